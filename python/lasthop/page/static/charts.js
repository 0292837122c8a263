// Curves below the air, on the same time axis: tcptrace of a flow, its window, its RTT, the queue of a node.

import { element, span } from 'lasthop/ui.js';
import { colours } from 'lasthop/palette.js';
import { GUTTER, MARGIN } from 'lasthop/air.js';
import { label, ticks } from 'lasthop/ruler.js';

const LOOKS = {
  sequence: { height: 200, unit: 'B', strokes: ['ampdu', 'again', 'ack', 'noise'], extents: [true, true, false, true] },
  window: { height: 130, unit: 'segments', strokes: ['ampdu', 'quiet', 'data'], extents: [false, false, false] },
  rtt: { height: 110, unit: 's', strokes: ['ampdu', 'partly'], extents: [false, false] },
  queue: { height: 110, unit: 'packets', strokes: ['partly', 'ack'], extents: [false, false] },
};
// A click this near to a segment, in pixels, selects it.
const NEAR = 8;

/** One chart of `name` over `view`; `picked` is called for a click on a segment, with its packet and curve. */
export class Chart {
  constructor(name, curves, view, tiles, picked) {
    Object.assign(this, { name, curves, view, tiles, picked });
    this.look = LOOKS[name];
    this.title = element('span', {});
    this.legend = element('span', { class: 'legend' });
    this.plot = element('div', { class: 'plot' });
    this.box = element(
      'section',
      { class: 'chart', 'data-chart': name },
      element('h3', {}, this.title, this.legend),
      this.plot,
    );
    this.entity = 0;
  }

  /** Shows flow or node `entity`, called `title`. */
  show(entity, title) {
    this.entity = entity;
    this.title.textContent = title;
  }

  get kind() {
    return `curves/${this.name}/${this.entity}`;
  }

  /** Rows in view, by curve: `t`, `low`, `high`, `last`, `packet`. */
  gather() {
    const { from, to } = this.view;
    const found = this.curves.map(() => ({ t: [], low: [], high: [], last: [], packet: [] }));
    for (const piece of this.tiles.between(this.kind, from, to, this.plot.clientWidth - GUTTER)) {
      const { curve, t, low, high, last, packet } = piece.tile.columns;
      for (let i = 0; i < piece.tile.length; i += 1) {
        const into = found[curve[i]];
        if (t[i] >= piece.to || t[i] < (into.t.at(-1) ?? -1)) continue;
        // Only the last of the earlier values matters: it holds until the first one in view.
        if (t[i] < piece.from && into.t.length) {
          if (into.t.length > 1 || into.t[0] >= piece.from) continue;
          for (const column of Object.values(into)) column.pop();
        }
        into.t.push(t[i]);
        into.low.push(low[i]);
        into.high.push(high[i]);
        into.last.push(last[i]);
        into.packet.push(packet[i]);
      }
    }
    return found;
  }

  draw() {
    const width = this.plot.clientWidth;
    if (!width) return;
    this.rows = this.gather();
    const seconds = (list) => list.map((t) => t / 1e9);
    const range = this.range();
    const data = globalThis.uPlot.join(
      this.rows.map((rows) => [seconds(rows.t.length ? rows.t : [this.view.from]), rows.t.length ? rows.last : [null]]),
    );
    if (!this.chart || this.drawnWith !== colours.ground || this.chart.width !== width) this.build(width, data);
    this.chart.batch(() => {
      this.chart.setData(data, false);
      this.chart.setScale('x', { min: this.view.from / 1e9, max: this.view.to / 1e9 });
      this.chart.setScale('y', range);
    });
    this.sayLegend();
  }

  range() {
    let [low, high] = [Infinity, -Infinity];
    for (const rows of this.rows) {
      for (let i = 0; i < rows.t.length; i += 1) {
        if (rows.t[i] > this.view.to) continue;
        low = Math.min(low, rows.low[i]);
        high = Math.max(high, rows.high[i]);
      }
    }
    if (!(low <= high)) return { min: 0, max: 1 };
    if (this.name !== 'sequence') low = 0;
    const room = Math.max((high - low) * 0.06, high * 1e-6, 1e-6);
    return { min: this.name === 'sequence' ? low - room : 0, max: high + room };
  }

  build(width, data) {
    this.chart?.destroy();
    this.plot.replaceChildren();
    this.drawnWith = colours.ground;
    const axis = {
      stroke: colours.quiet,
      grid: { stroke: colours.grid, width: 1 },
      ticks: { stroke: colours.grid, width: 1 },
      font: '11px system-ui',
    };
    const { unit } = this.look;
    this.chart = new globalThis.uPlot(
      {
        width,
        height: this.look.height,
        padding: [6, MARGIN, 4, 0],
        legend: { show: false },
        cursor: {
          drag: { x: true, y: false, setScale: false },
          sync: { key: 'time', setSeries: false },
          points: { show: false },
        },
        scales: { x: { time: false, auto: false }, y: { auto: false } },
        axes: [
          {
            ...axis,
            size: 24,
            gap: 2,
            splits: () => ticks(this.view.from, this.view.to, width - GUTTER).found.map((t) => t / 1e9),
            values: (_, at) => this.times(at, width),
          },
          { ...axis, size: GUTTER, values: (_, at, __, ___, step) => at.map((v) => value(v, step, at.at(-1), unit)) },
        ],
        series: [
          {},
          ...this.curves.map((curve, i) => ({
            label: curve,
            stroke: colours[this.look.strokes[i]],
            width: 1.5,
            points: { show: false },
            paths: (u, _, first, last) => this.paths(u, i, first, last),
          })),
        ],
        hooks: { setSelect: [(u) => this.select(u)] },
      },
      data,
      this.plot,
    );
    this.chart.over.addEventListener('click', (event) => this.click(event));
    this.chart.over.addEventListener(
      'wheel',
      (event) => {
        this.view.zoom(1.0015 ** event.deltaY, this.chart.posToVal(event.offsetX, 'x') * 1e9);
        event.preventDefault();
      },
      { passive: false },
    );
  }

  times(at, width) {
    const { step } = ticks(this.view.from, this.view.to, width - GUTTER);
    return at.map((t) => `${label(t * 1e9, step)}`);
  }

  /** Lines hold their value until the next one; others are drawn from low to high at their time. */
  paths(u, which) {
    const rows = this.rows[which];
    const stroke = new Path2D();
    const px = (t) => u.valToPos(t / 1e9, 'x', true);
    const py = (v) => u.valToPos(v, 'y', true);
    const thick = devicePixelRatio || 1;
    for (let i = 0; i < rows.t.length; i += 1) {
      const x = px(rows.t[i]);
      const [top, foot] = [py(rows.high[i]), py(rows.low[i])];
      if (this.look.extents[which]) {
        stroke.rect(x, Math.min(top, foot - thick), thick, Math.max(foot - top, thick));
        continue;
      }
      if (i === 0) stroke.moveTo(x, py(rows.last[i]));
      else stroke.lineTo(x, py(rows.last[i - 1]));
      if (rows.low[i] < rows.high[i]) {
        stroke.lineTo(x, foot);
        stroke.lineTo(x, top);
      }
      stroke.lineTo(x, py(rows.last[i]));
    }
    if (rows.t.length && !this.look.extents[which]) stroke.lineTo(px(this.view.to), py(rows.last.at(-1)));
    return { stroke };
  }

  sayLegend() {
    this.legend.replaceChildren(
      ...this.curves
        .map((curve, i) => {
          const rows = this.rows[i];
          return rows.t.length ? element('span', { class: `key ${this.look.strokes[i]}` }, curve) : null;
        })
        .filter(Boolean),
    );
    if (!this.legend.childElementCount) this.legend.textContent = this.tiles.busy ? '…' : 'nothing here';
  }

  select(u) {
    const { left, width } = u.select;
    if (width < 4) return;
    this.view.show(u.posToVal(left, 'x') * 1e9, u.posToVal(left + width, 'x') * 1e9, true);
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
  }

  /** The segment nearest to a click. */
  click(event) {
    if (this.name !== 'sequence') return;
    let best = null;
    this.rows.forEach((rows, curve) => {
      rows.t.forEach((t, i) => {
        if (!rows.packet[i]) return;
        const dx = this.chart.valToPos(t / 1e9, 'x') - event.offsetX;
        const [top, foot] = [this.chart.valToPos(rows.high[i], 'y'), this.chart.valToPos(rows.low[i], 'y')];
        const dy = Math.max(top - event.offsetY, event.offsetY - foot, 0);
        const off = Math.hypot(dx, dy);
        if (off <= NEAR && (!best || off < best.off)) best = { off, packet: rows.packet[i], curve };
      });
    });
    if (best) this.picked(best.packet, best.curve);
    else if (this.rows.some((rows) => rows.t.length))
      this.view.zoom(0.2, this.chart.posToVal(event.offsetX, 'x') * 1e9);
  }
}

/** A value of an axis, with the digits that its `step` needs and the prefix of its `most`. */
function value(v, step, most, unit) {
  if (unit === 'packets' || unit === 'segments') return `${v}`;
  const [scale, prefix] = [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
    [1, ''],
    [1e-3, 'm'],
    [1e-6, 'µ'],
  ].find(([s]) => Math.abs(most) >= s) ?? [1, ''];
  return `${(v / scale).toFixed(Math.min(6, Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9))))} ${prefix}${unit}`;
}

/** The text for a stretch of time. */
export const stretch = (view) => `${span(view.span)} of ${span(view.duration)}`;
