// A run: its air, curves and account on one time axis, and the panel opened by a click.

import { ask, askJson, element, note, onTheme, percent, withPrefix } from 'lasthop/ui.js';
import { Air } from 'lasthop/air.js';
import { Chart, stretch } from 'lasthop/charts.js';
import { Details } from 'lasthop/details.js';
import { Explained } from 'lasthop/explained.js';
import { Overview } from 'lasthop/overview.js';
import { LEGEND, readColours } from 'lasthop/palette.js';
import { Tiles } from 'lasthop/source.js';
import { NARROWEST, View } from 'lasthop/view.js';
import { listenToKeys, HELP } from 'lasthop/keys.js';

/** The page of run `run`, seed `seed` or its first. */
export async function show(main, { run, seed, from, to, flow, queue, ppdu }) {
  const page = await opened(main, { run, seed });
  document.title = `${page.run.title} · lasthop`;
  main.replaceChildren(page.box);
  page.start({ from: Number(from), to: Number(to), flow, queue, ppdu });
}

/** The same, not yet shown; `place` shows the progress if the seed has to be run again. */
export async function opened(place, { run, seed }) {
  readColours();
  const first = seed ?? (await askJson(`/api/runs/${run}/seeds`)).seeds[0];
  const base = `/api/runs/${run}/seeds/${first}`;
  const facts = await recorded(place, base);
  return new RunPage(facts, {
    bytes: async (address) => new Uint8Array(await (await ask(`${base}/${address}`)).arrayBuffer()),
    json: (address) => askJson(`${base}/${address}`),
  });
}

/** The recording of a seed; if there is none, the seed is run again first. */
async function recorded(main, base) {
  let facts = await askJson(base);
  if (facts.recorded) return facts;
  const bar = element('progress', { max: 1, value: 0 });
  main.replaceChildren(
    element('h1', {}, facts.name),
    element('p', {}, `Seed ${facts.seed} was not recorded. It is run again with a recording …`),
    bar,
  );
  let state = await askJson(`${base}/record`, { method: 'POST' });
  while (!state.done && !state.error) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    facts = await askJson(base);
    state = facts.recorded ? { done: true } : facts;
    bar.value = state.making ?? 1;
  }
  if (state.error) throw new Error(state.error);
  return askJson(base);
}

/** The span of a recording that does not reach from the warm-up to the end: the rest is unknown, not silent. */
function silence({ span_ns: told, warmup_ns: warmup, duration_ns: duration }) {
  if (!told || (told[0] <= warmup && told[1] >= 0.9 * duration)) return null;
  return element(
    'span',
    { class: 'failure' },
    `frames are recorded from ${(told[0] / 1e9).toFixed(3)} s to ${(told[1] / 1e9).toFixed(3)} s`,
  );
}

let silents = 0;

/** The meanings of the colours of frames. */
export const legend = () =>
  element(
    'div',
    { class: 'legend' },
    LEGEND.map(([name, text]) => element('span', { class: `key ${name}` }, text)),
  );

/** The parts of the page over `source`, which has tiles and facts from a server or from within a file. */
export class RunPage {
  constructor(run, source) {
    this.run = run;
    this.source = source;
    this.view = new View(run.duration_ns);
    this.tiles = new Tiles(source.bytes, () => this.later());
    this.tiles.failed = (error) => note(error.message);
    this.air = new Air(run, this.view, this.tiles, (ppdu) => this.ppdu(ppdu));
    this.overview = new Overview(this.view, this.tiles, run.groups);
    this.details = new Details({
      ppdu: (number, brief) => this.ppdu(number, brief),
      packet: (...which) => this.packet(...which),
      time: (begin, end) => this.view.reach(begin, end),
      close: () => this.unselect(),
    });
    this.charts = Object.entries(run.charts)
      .filter(([, { table }]) => run.tables.includes(table))
      .map(
        ([name, { curves }]) =>
          new Chart(name, curves, this.view, this.tiles, (packet, curve) => this.segment(packet, curve)),
      );
    this.explained = new Explained(run, source, {
      time: (from, to) => this.view.show(from, to, true),
      flow: (id) => this.chooseFlow(id),
    });
    this.where = element('span', { class: 'mono' });
    this.box = this.layout();
    this.view.listen(() => this.later());
  }

  layout() {
    const { run } = this;
    this.flows = element(
      'select',
      { 'aria-label': 'flow', onchange: () => this.chooseFlow(this.flows.value) },
      run.flows.map((flow) =>
        element('option', { value: flow.name }, `${flow.name} · ${withPrefix(run.goodput[flow.name], 'bit/s')}`),
      ),
    );
    this.nodes = element(
      'select',
      { 'aria-label': 'queue of', onchange: () => this.chooseNode(this.nodes.value) },
      run.nodes.map((node) => element('option', { value: node.name }, node.name)),
    );
    const seeds =
      run.seeds.length > 1 && run.key
        ? element(
            'label',
            {},
            'seed ',
            element(
              'select',
              {
                onchange: (event) => {
                  location.search = `?seed=${event.target.value}`;
                },
              },
              run.seeds.map((seed) => element('option', { value: seed, selected: seed === run.seed }, `${seed}`)),
            ),
          )
        : null;
    const silent = element('input', {
      type: 'checkbox',
      id: `silent-${(silents += 1)}`,
      onchange: () => this.hideSilent(silent.checked),
    });
    const buttons = [
      ['whole run', '0', () => this.view.whole()],
      ['−', 'S', () => this.view.zoom(2)],
      ['+', 'W', () => this.view.zoom(0.5)],
      ['back', 'Backspace', () => this.view.back()],
    ];
    this.head = element(
      'div',
      { class: 'runhead' },
      element('h1', {}, run.title),
      element('span', { class: 'quiet' }, [run.title === run.name ? '' : `${run.name}. `, run.description ?? '']),
      seeds,
      element(
        'span',
        {},
        `${withPrefix(run.totals.goodput_bps, 'bit/s')} in all, ${percent(run.medium.busy_fraction)} of the air busy`,
      ),
      silence(run),
      (run.warnings ?? []).map((text) => element('p', { class: 'warning' }, `Warning: ${text}`)),
    );
    this.steps = element(
      'div',
      { class: 'tools' },
      ...buttons.map(([text, key, act]) =>
        element('button', { type: 'button', title: `${text} (${key})`, onclick: act }, text),
      ),
      this.where,
      element(
        'details',
        { class: 'help' },
        element('summary', {}, 'keys'),
        element(
          'table',
          {},
          HELP.map(([key, what]) => element('tr', {}, element('th', {}, key), element('td', {}, what))),
        ),
      ),
    );
    this.choices = element(
      'div',
      { class: 'tools' },
      element('label', {}, 'flow ', this.flows),
      element('label', {}, 'queue of ', this.nodes),
      element('label', { for: silent.id }, silent, ' only who sends'),
    );
    this.aside = element('aside', { class: 'aside' }, this.details.box, this.explained.box);
    return element(
      'div',
      { class: 'run' },
      this.head,
      this.steps,
      this.choices,
      legend(),
      element(
        'div',
        { class: 'board' },
        element(
          'div',
          { class: 'timed' },
          this.overview.canvas,
          this.air.box,
          this.explained.timed,
          this.charts.map((chart) => chart.box),
        ),
        this.aside,
      ),
    );
  }

  start({ from, to, flow, queue, ppdu, keys = true }) {
    new ResizeObserver(() => this.later()).observe(this.box);
    onTheme(() => this.later());
    if (keys) listenToKeys(this);
    this.chooseFlow(this.run.flows.some((one) => one.name === flow) ? flow : this.starving());
    if (queue) this.chooseNode(queue);
    if (to > from) this.view.show(from, to);
    if (ppdu != null) this.ppdu(Number(ppdu));
    this.later();
  }

  /** Loads the account after everything else is drawn, as it takes as long as the run did. */
  explain() {
    if (this.explaining) return;
    this.explaining = true;
    this.explained.start().catch((error) => note(error.message));
  }

  /** The flow to show first: the worst one among bulk TCP flows, if there are any. */
  starving() {
    const { flows } = this.run;
    const among =
      [
        flows.filter((flow) => flow.transport === 'tcp' && flow.traffic === 'bulk'),
        flows.filter((flow) => flow.transport === 'tcp'),
        flows,
      ].find((some) => some.length) ?? [];
    return among.reduce(
      (worst, flow) => (this.run.goodput[flow.name] < this.run.goodput[worst.name] ? flow : worst),
      among[0],
    )?.name;
  }

  chooseFlow(name) {
    const number = this.run.flows.findIndex((flow) => flow.name === name);
    if (number < 0) return;
    this.flow = number;
    this.flows.value = name;
    for (const chart of this.charts.filter((chart) => chart.name !== 'queue')) {
      const { transport } = this.run.flows[number];
      chart.box.hidden = !this.hasChart(transport, chart.name);
      const numbers = transport === 'quic' ? 'Packet numbers' : 'Sequence numbers';
      chart.show(number, `${{ sequence: numbers, window: 'Window', rtt: 'RTT' }[chart.name]} of ${name}`);
    }
    const flow = this.run.flows[number];
    const station = this.run.nodes.find((node) => node.name === flow.station);
    this.chooseNode(flow.up ? flow.station : (station?.ap ?? flow.station));
    this.explained.choose(name);
  }

  /** Whether flows over a transport have a chart; the packet numbers of QUIC are in a table of their own. */
  hasChart(transport, chart) {
    if (transport === 'quic') return chart !== 'sequence' || this.run.tables.includes('quic');
    return transport === 'tcp';
  }

  chooseNode(name) {
    const number = this.run.nodes.findIndex((node) => node.name === name);
    if (number < 0) return;
    this.nodes.value = name;
    this.charts.find((chart) => chart.name === 'queue')?.show(number, `Queue of ${name}`);
    this.later();
  }

  hideSilent(hide) {
    const all = this.run.nodes.map((_, number) => number);
    this.air.showRows(hide ? all.filter((node) => this.run.senders.includes(node)) : all);
    this.later();
  }

  async ppdu(number, brief) {
    this.air.mark(number);
    if (brief)
      this.view.reach(brief.start_ns, brief.start_ns + brief.duration_ns, Math.max(40 * brief.duration_ns, 2e6));
    this.later();
    await this.told(`ppdus/${number}`, (facts) => {
      this.air.mark(
        number,
        facts.overlapped.map((other) => other.ppdu),
      );
      this.details.ppdu(facts);
      this.reveal();
    });
  }

  async packet(flow, up, number) {
    await this.told(`packets/${flow}/${up ? 'up' : 'down'}/${number}`, (facts) => {
      this.air.mark(
        null,
        facts.ppdus.map((ppdu) => ppdu.ppdu),
      );
      this.details.packet(facts);
      this.reveal();
    });
  }

  /** Scrolls to the details, which are below everything else on a narrow screen. */
  reveal() {
    if (getComputedStyle(this.aside).position === 'static')
      this.details.box.scrollIntoView({ block: 'center', behavior: 'smooth' });
  }

  /** Handles a click on a segment of the current flow: data goes one way, its acknowledgements the other. */
  segment(packet, curve) {
    const { up } = this.run.flows[this.flow];
    return this.packet(this.flow, curve < 2 ? up : !up, packet);
  }

  async told(address, then) {
    try {
      const facts = await this.source.json(address);
      if (facts) then(facts);
      else
        this.details.show(element('p', { class: 'quiet' }, 'This file holds details only of what it shows closely.'));
    } catch (error) {
      note(error.message);
    }
    this.later();
  }

  /** Writes the state into the address, so that it can be shared and survives a reload. */
  remember() {
    clearTimeout(this.remembering);
    if (!this.run.key || !location.pathname.startsWith('/run/')) return;
    this.remembering = setTimeout(() => {
      const shown = { seed: this.run.seed, flow: this.flows.value, queue: this.nodes.value };
      if (this.view.span < this.view.duration)
        Object.assign(shown, { from: Math.round(this.view.from), to: Math.round(this.view.to) });
      if (this.air.selected != null) shown.ppdu = this.air.selected;
      history.replaceState(null, '', `?${new URLSearchParams(shown)}`);
    }, 300);
  }

  unselect() {
    this.air.mark(null);
    this.details.clear();
    this.later();
  }

  later() {
    this.due ??= requestAnimationFrame(() => {
      this.due = undefined;
      this.draw();
    });
  }

  draw() {
    const began = performance.now();
    this.where.textContent = `${(this.view.from / 1e9).toFixed(6)} s · ${stretch(this.view)}`;
    if (this.view.span <= NARROWEST) this.where.textContent += ' · as long as the shortest frame; 0 shows the whole run';
    this.air.draw();
    if (this.run.window && this.air.isCoarse && !this.tiles.busy)
      this.where.textContent += ' · no more of it is in this file';
    this.overview.draw();
    this.charts.forEach((chart) => chart.draw());
    this.explained.draw(this.view);
    this.drewFor = performance.now() - began;
    this.box.dataset.settled = this.tiles.busy ? 'false' : 'true';
    if (!this.tiles.busy) this.explain();
    this.remember();
    globalThis.lasthopPage = this;
  }
}
