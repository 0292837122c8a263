// The whole run in a strip: the use of the air, and the part of it that is in view.

import { element } from 'lasthop/ui.js';
import { colours } from 'lasthop/palette.js';
import { GUTTER, MARGIN } from 'lasthop/air.js';

const HEIGHT = 30;
// Maximum number of node groups in the strip; larger networks are shown by these groups.
const GROUPS = 8;

/** A strip over `groups` groups of nodes, with tiles from `tiles`. */
export class Overview {
  constructor(view, tiles, groups) {
    Object.assign(this, { view, tiles, groups });
    this.canvas = element('canvas', { class: 'overview', 'aria-hidden': true });
    this.canvas.style.height = `${HEIGHT}px`;
    this.listen();
  }

  get width() {
    return this.canvas.clientWidth - GUTTER - MARGIN;
  }

  x(ns) {
    return GUTTER + (ns / this.view.duration) * this.width;
  }

  /** Busy and lost shares of each pixel column, for all nodes together. */
  gather() {
    const busy = new Float32Array(Math.max(this.width, 1));
    const lost = new Float32Array(busy.length);
    for (let group = 0; group < Math.min(this.groups, GROUPS); group += 1) {
      for (const { tile, from, to } of this.tiles.between(`air/${group}`, 0, this.view.duration, this.width)) {
        this.add(tile, [from, to], busy, lost);
      }
    }
    return [busy, lost];
  }

  add(tile, [from, to], busy, lost) {
    const perPixel = this.view.duration / busy.length;
    const put = (begin, length, share, bad) => {
      if (begin < from || begin >= to) return;
      const end = begin + length;
      for (let k = Math.floor(begin / perPixel); k < busy.length && k * perPixel < end; k += 1) {
        const part = (Math.min(end, (k + 1) * perPixel) - Math.max(begin, k * perPixel)) / perPixel;
        busy[k] += share * part;
        lost[k] += bad * part;
      }
    };
    const c = tile.columns;
    const width = 2 ** tile.level / 256;
    for (let i = 0; i < tile.length; i += 1) {
      if (tile.exact) put(c.start[i], c.duration[i], 1, c.lost[i] === 0xff ? 0 : 1 - c.decoded[i] / c.mpdus[i]);
      else
        put(
          tile.index * 2 ** tile.level + c.bin[i] * width,
          width,
          c.busy[i] / 255,
          ((c.busy[i] / 255) * (c.collided[i] + c.noise[i])) / 255,
        );
    }
  }

  draw() {
    const { canvas } = this;
    const scale = devicePixelRatio || 1;
    const [width, height] = [Math.round(canvas.clientWidth * scale), HEIGHT * scale];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const c = canvas.getContext('2d');
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.fillStyle = colours.raised;
    c.fillRect(0, 0, canvas.clientWidth, HEIGHT);
    if (this.version !== this.tiles.version || this.gathered[0].length !== Math.max(this.width, 1)) {
      this.version = this.tiles.version;
      this.gathered = this.gather();
    }
    const [busy, lost] = this.gathered;
    for (let i = 0; i < busy.length; i += 1) {
      const [full, bad] = [Math.min(busy[i], 1) * (HEIGHT - 4), Math.min(lost[i], 1) * (HEIGHT - 4)];
      c.fillStyle = colours.data;
      c.fillRect(GUTTER + i, HEIGHT - full, 1, full);
      if (bad < 0.3) continue;
      c.fillStyle = colours.collided;
      c.fillRect(GUTTER + i, HEIGHT - bad, 1, bad);
    }
    c.fillStyle = colours.quiet;
    c.font = '11px system-ui, "DejaVu Sans", sans-serif';
    c.textBaseline = 'middle';
    c.fillText(this.groups > GROUPS ? `first ${GROUPS * 32} nodes` : 'whole run', 2, HEIGHT / 2);
    const [from, to] = [this.x(this.view.from), this.x(this.view.to)];
    c.fillStyle = colours.waiting;
    c.fillRect(GUTTER, 0, from - GUTTER, HEIGHT);
    c.fillRect(to, 0, GUTTER + this.width - to, HEIGHT);
    c.strokeStyle = colours.selected;
    c.strokeRect(from + 0.5, 0.5, Math.max(to - from - 1, 2), HEIGHT - 1);
  }

  listen() {
    const move = (event) => {
      const at = ((event.offsetX - GUTTER) / this.width) * this.view.duration;
      this.view.show(at - this.view.span / 2, at + this.view.span / 2);
    };
    this.canvas.addEventListener('pointerdown', (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      move(event);
    });
    this.canvas.addEventListener('pointermove', (event) => {
      if (event.buttons) move(event);
    });
  }
}
