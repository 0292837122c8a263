// Two runs on one time axis.

import { element } from 'lasthop/ui.js';

/** Puts the pages of two runs below each other in `section`; what one shows, the other shows. */
export function showBeside(section, [a, b]) {
  section.replaceChildren(
    element('h2', {}, `A: ${a.run.name}, seed ${a.run.seed}`), a.box,
    element('h2', {}, `B: ${b.run.name}, seed ${b.run.seed}`), b.box);
  let following = false;
  const follow = (leader, follower) => leader.view.listen(() => {
    if (following) return;
    following = true;
    follower.view.show(leader.view.from, leader.view.to);
    following = false;
  });
  follow(a, b);
  follow(b, a);
  a.start({});
  b.start({ keys: false });
}
