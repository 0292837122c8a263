// Why: the account of each flow's time and of the channel's, in sentences and bars.

import { element } from 'lasthop/ui.js';

/** The account of `run`. `go` has `time(from, to)` and `flow(id)`. */
export class Explained {
  constructor(run, source, go) {
    Object.assign(this, { run, source, go });
    this.box = element('section', { class: 'explained' });
    this.timed = element('section', { class: 'timedaccount' });
  }

  async start() {}

  choose(flow) {
    this.flow = flow;
  }

  draw() {}
}
