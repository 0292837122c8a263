// The account: the time of the chosen flow and of each channel in slices of the run, stacked by term, and in sentences.

import { element, percent } from 'lasthop/ui.js';
import { colours } from 'lasthop/palette.js';
import { GUTTER, MARGIN } from 'lasthop/air.js';

const HEIGHT = 84;
// Terms with the same meaning share a colour on both kinds of bars. [name, colour or shade]
const SHADES = {
  own_data: 'ampdu',
  data: 'ampdu',
  own_tcp_acks: 'ack',
  tcp_acks: 'ack',
  triggered: 'ampdu',
  padding: 'partly',
  waits_for_trigger: 'line',
  own_control: 'control',
  control: 'control',
  beacons: 'beacon',
  rate_below_best: 'data',
  collisions: 'collided',
  collided: 'collided',
  missed_preamble: 'again',
  interference: 'again',
  noise: 'noise',
  lost_to_noise: 'noise',
  rto_silence: 'failure',
  queues: 'partly',
  waiting_for_others: 'quiet',
  backoff_and_spaces: 'line',
  contending: 'line',
  within_exchanges: 'beacon',
  congestion_window: 'window',
  receive_window: 'window',
  pacing: 'window',
  device: 'window',
  opening: 'window',
  on_the_wire: 'row',
  application_idle: 'row',
  idle: 'row',
  unattributed: 'text',
};

/** The account of `run`. `go.time(from, to)` shows a stretch of time. */
export class Explained {
  constructor(run, source, go) {
    Object.assign(this, { run, source, go });
    this.sentences = element('div', {});
    this.box = element('section', { class: 'explained' }, element('h2', {}, 'Why'), this.sentences);
    this.flowBars = new Bars('', (...slices) => this.pick(...slices));
    this.channelBars = [];
    this.timed = element('section', { class: 'timedaccount' }, this.flowBars.box);
  }

  /** Polls until the account is there: it takes about as long as the run itself. */
  async start() {
    let told = await this.source.json('explained');
    while (told && told.progress !== undefined && !told.error) {
      this.say(told);
      this.flowBars.say(`the account is being made … ${percent(told.progress)}`);
      await new Promise((resolve) => setTimeout(resolve, 300));
      told = await this.source.json('explained');
    }
    if (!told || told.error) {
      this.flowBars.say(told?.error ?? 'this file holds no account');
      return;
    }
    this.told = told;
    this.say(told);
    this.channelBars = told.channels.map((terms, channel) => {
      const bars = new Bars(
        told.channels.length > 1 ? `Time of channel ${channel}` : 'Time of the channel',
        (...slices) => this.pick(...slices),
      );
      bars.set(terms, told.edges_ns, told.channel_terms);
      return bars;
    });
    this.timed.append(...this.channelBars.map((bars) => bars.box));
    if (this.flow) await this.choose(this.flow);
  }

  /** Shows the sentences as soon as they are known: for a result with an account, before its slices. */
  say({ answers, suffering }) {
    if (!answers || this.sentences.childElementCount) return;
    const list = (sentences, look) =>
      element(
        'ul',
        look,
        sentences.map((sentence) => element('li', {}, this.linked(sentence))),
      );
    this.sentences.replaceChildren(list(answers, {}), suffering.length ? list(suffering, { class: 'quiet' }) : '');
  }

  /** A sentence in which each named flow is a link. */
  linked(sentence) {
    const names = new Set(this.run.flows.map((flow) => flow.name));
    return sentence.split(/([^\s(),;]+)/).map((word) => {
      const name = word.replace(/[.:]$/, '');
      if (!names.has(name)) return word;
      return [
        element('button', { type: 'button', class: 'link', onclick: () => this.go.flow(name) }, name),
        word.slice(name.length),
      ];
    });
  }

  /** Shows slices `first` to `last`. */
  pick(first, last = first) {
    this.go.time(this.told.edges_ns[first], this.told.edges_ns[last + 1]);
  }

  async choose(flow) {
    this.flow = flow;
    this.flowBars.name(`Time of ${flow}`);
    if (!this.told) return;
    const number = this.run.flows.findIndex((one) => one.name === flow);
    const terms = await this.source.json(`explained/${number}`);
    if (this.flow !== flow || !terms) return;
    this.flowBars.set(terms, this.told.edges_ns, this.told.flow_terms);
    if (this.view) this.draw(this.view);
  }

  draw(view) {
    this.view = view;
    this.flowBars.draw(view);
    this.channelBars.forEach((bars) => bars.draw(view));
  }
}

/** Stacked bars, one for each slice of time; a click on one shows that slice. */
class Bars {
  constructor(title, picked) {
    this.picked = picked;
    this.title = element('span', {}, title);
    this.legend = element('span', { class: 'legend' });
    this.canvas = element('canvas', {
      class: 'bars',
      tabindex: 0,
      role: 'img',
      'aria-label': 'shares of time by term',
    });
    this.hint = element('div', { class: 'hint', hidden: true });
    this.box = element(
      'section',
      { class: 'chart account' },
      element('h3', {}, this.title, this.legend),
      element('div', { class: 'airbox' }, this.canvas, this.hint),
    );
    this.canvas.addEventListener('click', (event) => {
      const found = this.at(event.offsetX, event.offsetY);
      if (found) this.picked(found.slice);
    });
    this.canvas.addEventListener('pointermove', (event) => this.hover(event));
    this.canvas.addEventListener('pointerleave', () => {
      this.hint.hidden = true;
    });
  }

  name(title) {
    this.title.textContent = title;
  }

  say(text) {
    this.legend.textContent = text;
  }

  set(terms, edges, names) {
    this.terms = Object.entries(terms);
    this.edges = edges;
    this.names = names;
    const mean = (shares) => shares.reduce((sum, share) => sum + share, 0) / shares.length;
    const order = this.terms
      .map(([name, shares]) => [name, mean(shares)])
      .filter(([, share]) => share >= 0.005)
      .sort((a, b) => b[1] - a[1]);
    this.legend.replaceChildren(
      ...order.map(([name, share]) =>
        element(
          'button',
          {
            type: 'button',
            class: 'term',
            title: 'show the stretch in which it took most',
            onclick: () => this.most(name),
          },
          swatch(name),
          `${names[name] ?? name} ${percent(share)}`,
        ),
      ),
    );
  }

  most(name) {
    const [, shares] = this.terms.find(([term]) => term === name);
    const greatest = Math.max(...shares);
    let [first, last] = [shares.indexOf(greatest), shares.indexOf(greatest)];
    while (shares[first - 1] >= greatest / 2) first -= 1;
    while (shares[last + 1] >= greatest / 2) last += 1;
    this.picked(first, last);
  }

  draw(view) {
    this.view = view;
    const { canvas } = this;
    const scale = devicePixelRatio || 1;
    canvas.style.height = `${this.terms ? HEIGHT : 0}px`;
    const [width, height] = [Math.round(canvas.clientWidth * scale), HEIGHT * scale];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    if (!this.terms) return;
    const c = canvas.getContext('2d');
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.clearRect(0, 0, canvas.clientWidth, HEIGHT);
    const inner = canvas.clientWidth - GUTTER - MARGIN;
    this.x = (ns) => GUTTER + Math.min(Math.max((ns - view.from) / view.span, 0), 1) * inner;
    for (let slice = 0; slice + 1 < this.edges.length; slice += 1) {
      const [left, right] = [this.x(this.edges[slice]), this.x(this.edges[slice + 1])];
      if (right - left < 0.2) continue;
      let foot = HEIGHT;
      for (const [name, shares] of this.terms) {
        const high = shares[slice] * HEIGHT;
        c.fillStyle = colourOf(name);
        c.fillRect(left, foot - high, right - left + (right - left > 6 ? -1 : 0.3), high);
        foot -= high;
      }
    }
    c.fillStyle = colours.quiet;
    c.font = '11px system-ui, "DejaVu Sans", sans-serif';
    c.fillText('100 %', GUTTER - 40, 10);
    c.fillText('0', GUTTER - 14, HEIGHT - 2);
  }

  at(x, y) {
    if (!this.terms || !this.x) return null;
    const slice = this.edges.findIndex(
      (edge, i) => i + 1 < this.edges.length && this.x(edge) <= x && x < this.x(this.edges[i + 1]),
    );
    if (slice < 0) return null;
    let foot = HEIGHT;
    for (const [name, shares] of this.terms) {
      foot -= shares[slice] * HEIGHT;
      if (y >= foot) return { slice, name, share: shares[slice] };
    }
    return { slice, name: null, share: 0 };
  }

  hover(event) {
    const found = this.at(event.offsetX, event.offsetY);
    this.hint.hidden = !found?.name;
    if (!found?.name) return;
    this.hint.textContent = `${this.names[found.name] ?? found.name}: ${percent(found.share)} of this stretch`;
    this.hint.style.left = `${Math.min(event.offsetX + 12, this.canvas.clientWidth - 260)}px`;
    this.hint.style.top = `${event.offsetY + 12}px`;
  }
}

function colourOf(name) {
  return colours[SHADES[name]] ?? colours.quiet;
}

function swatch(name) {
  return element('span', { class: `swatch shade-${SHADES[name] ?? 'quiet'}` });
}
