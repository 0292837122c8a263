// The air at low zoom: bars for each node's share of each bin, drawn pixel by pixel, as there are tens of thousands.

import { NOISE, colours } from 'lasthop/palette.js';

const NO_COUNT = 0xffff;

/** Draws bars into an image of its own, which is then drawn over the rows. */
export class Bars {
  /** Draws `pieces` of tiles over the rows of `air`, whose time axis begins at `left` pixels; a bar's height is the root of its share. */
  draw(c, pieces, { view, place, rowHeight, width: room, height }, left) {
    const scale = devicePixelRatio || 1;
    const [wide, high] = [Math.max(1, Math.round(room * scale)), Math.round(height * scale)];
    const image = new ImageData(wide, high);
    const pixels = new Uint32Array(image.data.buffer);
    const [good, bad, weak] = [colours.ampdu, colours.collided, colours.noise].map(asPixel);
    const perNs = wide / view.span;
    const most = Math.round((rowHeight - 3) * scale);
    const fine = view.span / wide;
    for (const { tile, from, to } of pieces) {
      const { node, bin, busy, collided, noise, begin, width } = tile.exact
        ? binsOf(tile, from, to, fine)
        : binsIn(tile);
      for (let i = 0; i < node.length; i += 1) {
        const y = place.get(node[i]);
        const at = begin + bin[i] * width;
        if (y === undefined || at < from || at >= to) continue;
        const first = Math.max(0, Math.floor((at - view.from) * perNs));
        const right = Math.min(wide, Math.max(first + 1, Math.floor((at + width - view.from) * perNs)));
        const full = Math.max(1, Math.round(Math.sqrt(busy[i] / 255) * most));
        const lost = Math.round((collided[i] / 255) * full);
        const faint = Math.round((noise[i] / 255) * full);
        const foot = Math.round((y + rowHeight - 1) * scale) - 1;
        for (let k = 0; k < full; k += 1) {
          const row = (foot - k) * wide;
          pixels.fill(k < lost ? bad : k < lost + faint ? weak : good, row + first, row + right);
        }
      }
    }
    this.layer ??= document.createElement('canvas');
    if (this.layer.width !== wide || this.layer.height !== high)
      Object.assign(this.layer, { width: wide, height: high });
    this.layer.getContext('2d').putImageData(image, 0, 0);
    c.drawImage(this.layer, left, 0, room, height);
  }
}

/** The bins of a tile, with the start of the first and the length of each. */
function binsIn(tile) {
  return { ...tile.columns, begin: tile.index * 2 ** tile.level, width: 2 ** tile.level / 256 };
}

/** The PPDUs of an exact tile between two times, in bins of `width` ns, like the server's bins. */
function binsOf(tile, from, to, width) {
  const { start, duration, node, lost, decoded, mpdus } = tile.columns;
  const sums = new Map();
  for (let i = 0; i < tile.length; i += 1) {
    const share = lost[i] === 0xff || decoded[i] === NO_COUNT ? 0 : 1 - decoded[i] / mpdus[i];
    const end = Math.min(start[i] + duration[i], to);
    for (let bin = Math.floor((Math.max(start[i], from) - from) / width); from + bin * width < end; bin += 1) {
      const part = (Math.min(end, from + (bin + 1) * width) - Math.max(start[i], from + bin * width)) / width;
      const key = node[i] * 2 ** 32 + bin;
      const sum = sums.get(key) ?? [0, 0, 0];
      sum[0] += part;
      sum[lost[i] === NOISE ? 2 : 1] += part * share;
      sums.set(key, sum);
    }
  }
  const bins = { node: [], bin: [], busy: [], collided: [], noise: [], begin: from, width };
  for (const [key, [busy, collided, noise]] of sums) {
    bins.node.push(Math.floor(key / 2 ** 32));
    bins.bin.push(key % 2 ** 32);
    bins.busy.push(Math.min(255, busy * 255));
    bins.collided.push((255 * collided) / busy);
    bins.noise.push((255 * noise) / busy);
  }
  return bins;
}

const parser = document.createElement('canvas').getContext('2d', { willReadFrequently: true });

/** A colour as a pixel of an image. */
function asPixel(colour) {
  parser.fillStyle = colour;
  parser.fillRect(0, 0, 1, 1);
  return new Uint32Array(parser.getImageData(0, 0, 1, 1).data.buffer)[0];
}
