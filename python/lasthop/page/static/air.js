// The air: a row for each node, a rectangle for each PPDU, from the whole run to microseconds.

import { element, span, moment } from 'lasthop/ui.js';
import { Bars } from 'lasthop/bars.js';
import { colourOf, colours } from 'lasthop/palette.js';
import { label, ticks } from 'lasthop/ruler.js';
import { levelFor } from 'lasthop/source.js';

export const GUTTER = 96;
export const MARGIN = 12;
const RULER = 22;
const GROUP = 32;
const NO_COUNT = 0xffff;
const SHORT = ['RTS', 'CTS', 'CTS', 'D', 'A', '', 'BA', 'BAR', 'B'];
// Below this span in nanoseconds, NAVs and backoffs are drawn.
const CLOSE = 60e6;

/** Draws `run` (its facts), with tiles from `tiles`, over the span of `view`; `picked` is called for a click on a PPDU. */
export class Air {
  constructor(run, view, tiles, picked) {
    Object.assign(this, { run, view, tiles, picked });
    this.bars = new Bars();
    this.rows = run.nodes.map((_, number) => number);
    this.scroll = 0;
    this.selected = null;
    this.marked = new Set();
    this.canvas = element('canvas', {
      tabindex: 0,
      class: 'air',
      role: 'img',
      'aria-label': 'the air: who sends when',
    });
    this.hint = element('div', { class: 'hint', hidden: true });
    this.box = element('div', { class: 'airbox' }, this.canvas, this.hint);
    this.listen();
  }

  get rowHeight() {
    return this.run.nodes.length > 60 ? 14 : 18;
  }

  get width() {
    return this.canvas.clientWidth - GUTTER - MARGIN;
  }

  /** Number of rows that fit; others are reached by scrolling. */
  get shown() {
    return this.rows.slice(this.scroll, this.scroll + Math.max(1, Math.floor((this.height - RULER) / this.rowHeight)));
  }

  get height() {
    return RULER + Math.min(this.rows.length, 40) * this.rowHeight;
  }

  x(ns) {
    return GUTTER + ((ns - this.view.from) / this.view.span) * this.width;
  }

  time(x) {
    return this.view.from + ((x - GUTTER) / this.width) * this.view.span;
  }

  /** Gives rows to these nodes only, in this order. */
  showRows(rows) {
    this.rows = rows;
    this.scroll = 0;
  }

  draw() {
    const began = performance.now();
    const { canvas } = this;
    const scale = devicePixelRatio || 1;
    canvas.style.height = `${this.height}px`;
    const [width, height] = [Math.round(canvas.clientWidth * scale), Math.round(this.height * scale)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const c = canvas.getContext('2d');
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.font = '11px system-ui, "DejaVu Sans", sans-serif';
    c.textBaseline = 'middle';
    this.place = new Map(this.shown.map((node, row) => [node, RULER + row * this.rowHeight]));
    this.drawGround(c);
    c.save();
    c.beginPath();
    c.rect(GUTTER, 0, this.width, this.height);
    c.clip();
    const pieces = this.inSight();
    if (this.view.span < CLOSE && this.run.tables.includes('backoff')) this.drawWaiting(c);
    const [exact, binned] = [pieces.filter(({ tile }) => tile.exact), pieces.filter(({ tile }) => !tile.exact)];
    // One style for the whole view: if part of it is available in bins only, exact tiles are drawn as bins, too.
    if (binned.length) this.bars.draw(c, pieces, this, GUTTER);
    else for (const piece of exact) this.drawExact(c, piece);
    c.restore();
    this.exact = [...new Set(exact.map((piece) => piece.tile))];
    this.isExact = !binned.length;
    // Bins that are several pixels wide: the finer tile does not exist, or has not arrived yet.
    this.isCoarse = binned.some(({ tile }) => tile.level > levelFor(this.view.span, this.width) + 1);
    this.drewFor = performance.now() - began;
  }

  /** The pieces of tiles to draw, of all groups of nodes that have rows. */
  inSight() {
    const groups = new Set(this.shown.map((node) => Math.floor(node / GROUP)));
    return [...groups].flatMap((group) => this.tiles.between(`air/${group}`, this.view.from, this.view.to, this.width));
  }

  drawGround(c) {
    c.fillStyle = colours.ground;
    c.fillRect(0, 0, this.canvas.clientWidth, this.height);
    for (const [node, y] of this.place) {
      c.fillStyle = node % 2 ? colours['row-other'] : colours.row;
      c.fillRect(GUTTER, y, this.width, this.rowHeight);
      c.fillStyle = this.run.nodes[node].is_ap ? colours.text : colours.quiet;
      c.fillText(fitted(c, this.run.nodes[node].name, GUTTER - 10), 2, y + this.rowHeight / 2);
    }
    const { step, found } = ticks(this.view.from, this.view.to, this.width);
    for (const at of found) {
      c.fillStyle = colours.grid;
      c.fillRect(this.x(at), RULER - 4, 1, this.height);
      c.fillStyle = colours.quiet;
      c.fillText(`${label(at, step)} s`, Math.min(this.x(at) + 3, GUTTER + this.width - 60), RULER / 2);
    }
    const measured = this.x(this.run.warmup_ns);
    if (measured > GUTTER) {
      c.fillStyle = colours.waiting;
      c.fillRect(GUTTER, RULER - 5, Math.min(measured - GUTTER, this.width), 4);
    }
  }

  /** Rectangles of PPDUs, colour by colour; then the marks in and around them. */
  drawExact(c, { tile, from, to }) {
    const { start, duration, nav, node, mpdus, decoded, rate, kind, ppdu } = tile.columns;
    const close = this.view.span < CLOSE;
    const perNs = this.width / this.view.span;
    const right = GUTTER + this.width;
    const byColour = new Map(close ? [[colours.nav, []]] : []);
    const captions = [];
    for (let i = 0; i < tile.length; i += 1) {
      const y = this.place.get(node[i]);
      if (y === undefined || start[i] >= to || start[i] + duration[i] <= from) continue;
      const x = this.x(start[i]);
      const wide = Math.max(1, duration[i] * perNs);
      if (x > right || x + wide + (close ? nav[i] * perNs : 0) < GUTTER) continue;
      if (close && nav[i]) byColour.get(colours.nav).push(x + wide, y + 3, nav[i] * perNs, this.rowHeight - 6);
      const left = Math.max(GUTTER, x);
      const room = Math.min(x + wide, right) - left;
      if (room <= 0) continue;
      const colour = colourOf(tile.columns, i);
      if (!byColour.has(colour)) byColour.set(colour, []);
      byColour.get(colour).push(left, y + 2, room, this.rowHeight - 4);
      if (room > 26 || this.marked.has(ppdu[i])) captions.push([i, left, y, room, wide]);
    }
    for (const [colour, list] of byColour) {
      c.fillStyle = colour;
      for (let i = 0; i < list.length; i += 4) c.fillRect(list[i], list[i + 1], list[i + 2], list[i + 3]);
    }
    for (const [i, x, y, room, wide] of captions) {
      if (room > 26)
        this.caption(c, x, y, room, { kind: kind[i], mpdus: mpdus[i], decoded: decoded[i], rate: rate[i], wide });
      if (this.marked.has(ppdu[i])) this.outline(c, x, y, room, ppdu[i] === this.selected);
    }
  }

  caption(c, x, y, room, { kind, mpdus, decoded, rate, wide }) {
    const count = decoded === NO_COUNT ? `${mpdus}` : `${decoded}/${mpdus}`;
    let text = kind === 5 ? count : SHORT[kind];
    if (room > 90) text += ` · ${rate >= 10000 ? Math.round(rate / 1000) : rate / 1000} Mbit/s`;
    c.fillStyle = '#ffffff';
    c.fillText(fitted(c, text, room - 5), x + 3, y + this.rowHeight / 2);
    // Single MPDUs are drawn if each is some pixels wide.
    if (kind === 5 && wide / mpdus > 5) {
      c.fillStyle = 'rgb(255 255 255 / 45%)';
      for (let n = 1; n < mpdus; n += 1) c.fillRect(x + (wide * n) / mpdus, y + 3, 1, this.rowHeight - 6);
    }
  }

  outline(c, x, y, wide, main) {
    c.strokeStyle = colours.selected;
    c.lineWidth = main ? 2 : 1;
    c.strokeRect(x - 0.5, y + 1.5, Math.max(wide, 3) + 1, this.rowHeight - 3);
  }

  /** From the draw of a backoff to its PPDU: backing off while the medium is idle, deferring while it is busy. */
  drawWaiting(c) {
    for (const { tile } of this.tiles.between('backoffs', this.view.from, this.view.to, this.width)) {
      if (!tile.exact) continue;
      const { node, begin, end, slots, cw } = tile.columns;
      for (let i = 0; i < tile.length; i += 1) {
        const y = this.place.get(node[i]);
        if (y === undefined) continue;
        const [x, until] = [Math.max(this.x(begin[i]), GUTTER), Math.min(this.x(end[i]), GUTTER + this.width)];
        if (until <= x) continue;
        c.fillStyle = colours.waiting;
        c.fillRect(x, y + this.rowHeight - 6, until - x, 5);
        if (until - x > 70 && this.view.span < CLOSE / 10) {
          c.fillStyle = colours.quiet;
          c.fillText(`${slots[i]} of ${cw[i]}`, x + 2, y + this.rowHeight / 2 - 2);
        }
      }
    }
  }

  /** The PPDU at a place of the canvas: its tile and row there, or null. */
  at(x, y) {
    const row = Math.floor((y - RULER) / this.rowHeight);
    const node = this.shown[row];
    if (y < RULER || node === undefined) return null;
    const time = this.time(x);
    const reach = (3 / this.width) * this.view.span;
    let best = null;
    for (const tile of this.exact ?? []) {
      const { start, duration, node: nodes } = tile.columns;
      for (let i = 0; i < tile.length; i += 1) {
        if (nodes[i] !== node) continue;
        const off = Math.max(start[i] - time, time - start[i] - duration[i], 0);
        if (off <= reach && (!best || off < best.off)) best = { tile, i, off };
      }
    }
    return best;
  }

  facts({ tile: { columns }, i }) {
    const { kinds, losses, nodes } = this.run;
    const to = columns.to[i] === 0xffff ? null : nodes[columns.to[i]].name;
    const known = columns.decoded[i] !== NO_COUNT;
    return {
      ppdu: columns.ppdu[i],
      start: columns.start[i],
      duration: columns.duration[i],
      node: nodes[columns.node[i]].name,
      to,
      kind: kinds[columns.kind[i]],
      mpdus: columns.mpdus[i],
      decoded: known ? columns.decoded[i] : null,
      lost: columns.lost[i] === 0xff ? null : losses[columns.lost[i]],
      rate: columns.rate[i] * 1000,
      exchange: columns.exchange[i],
    };
  }

  listen() {
    const { canvas } = this;
    const pointers = new Map();
    let drag = null;
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, event.offsetX);
      drag = pointers.size > 1 ? null : { x: event.offsetX, from: this.view.from, to: this.view.to, moved: false };
    });
    canvas.addEventListener('pointermove', (event) => {
      if (!pointers.has(event.pointerId)) return this.hover(event);
      if (pointers.size === 2) return this.pinch(pointers, event);
      pointers.set(event.pointerId, event.offsetX);
      if (drag && (drag.moved || Math.abs(event.offsetX - drag.x) > 3)) {
        drag.moved = true;
        const by = ((drag.x - event.offsetX) / this.width) * (drag.to - drag.from);
        this.view.show(drag.from + by, drag.to + by);
      }
    });
    const end = (event) => {
      pointers.delete(event.pointerId);
      if (drag && !drag.moved && event.type === 'pointerup') this.click(event);
      drag = null;
    };
    canvas.addEventListener('pointerup', end);
    canvas.addEventListener('pointercancel', end);
    canvas.addEventListener('pointerleave', () => {
      this.hint.hidden = true;
    });
    canvas.addEventListener('dblclick', (event) => this.view.zoom(0.25, this.time(event.offsetX)));
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
  }

  wheel(event) {
    if (
      event.altKey ||
      (!event.ctrlKey && !event.shiftKey && Math.abs(event.deltaX) < Math.abs(event.deltaY) && event.offsetX < GUTTER)
    ) {
      this.scrollRows(Math.sign(event.deltaY) * 3);
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.view.pan((event.deltaX || event.deltaY) / 1000);
    } else {
      this.view.zoom(1.0015 ** event.deltaY, this.time(event.offsetX));
    }
    event.preventDefault();
  }

  scrollRows(by) {
    const most = Math.max(0, this.rows.length - this.shown.length);
    this.scroll = Math.min(Math.max(this.scroll + by, 0), most);
    this.view.show(this.view.from, this.view.to);
  }

  pinch(pointers, event) {
    const [a, b] = [...pointers.values()];
    pointers.set(event.pointerId, event.offsetX);
    const [c, d] = [...pointers.values()];
    const factor = Math.abs(a - b) / Math.max(Math.abs(c - d), 1);
    if (Number.isFinite(factor) && factor > 0) this.view.zoom(factor, this.time((c + d) / 2));
  }

  hover(event) {
    const found = this.at(event.offsetX, event.offsetY);
    this.canvas.style.cursor = found ? 'pointer' : 'grab';
    this.hint.hidden = !found;
    if (!found) return;
    const f = this.facts(found);
    const fate =
      f.lost && f.decoded < f.mpdus
        ? `, ${f.mpdus - f.decoded} of ${f.mpdus} lost to ${f.lost}`
        : f.mpdus > 1
          ? `, ${f.mpdus} MPDUs`
          : '';
    this.hint.textContent = `${f.kind} ${f.node}${f.to ? ` → ${f.to}` : ''}, ${span(f.duration)} at ${moment(f.start, 100)}${fate}`;
    const left = Math.min(event.offsetX + 12, this.canvas.clientWidth - this.hint.offsetWidth - 4);
    this.hint.style.left = `${Math.max(0, left)}px`;
    this.hint.style.top = `${event.offsetY + 16}px`;
  }

  click(event) {
    const found = this.at(event.offsetX, event.offsetY);
    this.canvas.focus();
    if (found) this.picked(this.facts(found).ppdu);
    else if (!this.isExact) this.view.zoom(0.2, this.time(event.offsetX));
  }

  /** Marks a PPDU, and others related to it. */
  mark(selected, others = []) {
    this.selected = selected;
    this.marked = new Set([selected, ...others].filter((ppdu) => ppdu != null));
  }
}

const widths = new Map();

function widthOf(c, text) {
  if (!widths.has(text)) {
    if (widths.size > 5000) widths.clear();
    widths.set(text, c.measureText(text).width);
  }
  return widths.get(text);
}

/** `text`, cut to `room` pixels. */
function fitted(c, text, room) {
  if (widthOf(c, text) <= room) return text;
  let cut = text;
  while (cut && widthOf(c, `${cut}…`) > room) cut = cut.slice(0, -1);
  return cut ? `${cut}…` : '';
}
