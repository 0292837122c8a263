// Tiles of a run: its drawable data, by powers of two of time, loaded when they come into view and kept.
//
// A tile of level L and index I is the time from I·2^L to (I+1)·2^L nanoseconds. An exact one has all data, so that no finer
// tile has to be loaded within it.

const BINS_LOG2 = 8;
const FINEST = 10;
const COARSEST = 47;
const AT_ONCE = 6;

/** The level at which a bin is one to two pixels wide. */
export function levelFor(span, pixels) {
  const level = Math.ceil(Math.log2((span / Math.max(pixels, 1)) * (1 << BINS_LOG2)));
  return Math.min(Math.max(level, FINEST), COARSEST);
}

/** Tiles by address, from `load(address)`, which returns the bytes of an Arrow stream or null if there is no such tile. */
export class Tiles {
  constructor(load, arrived) {
    this.load = load;
    this.arrived = arrived;
    this.kept = new Map();
    this.waiting = new Map();
    this.underWay = 0;
    // Grows with each tile that arrives.
    this.version = 0;
  }

  /**
   * The available pieces `{tile, from, to}` of `kind` between two times, without overlap: coarser than they should be where the
   * right tile has not arrived yet. That tile is requested.
   */
  between(kind, from, to, pixels) {
    const level = levelFor(to - from, pixels);
    const pieces = [];
    for (let index = Math.floor(Math.max(from, 0) / 2 ** level); index * 2 ** level < to; index += 1) {
      const tile = this.best(kind, level, index);
      if (!tile) continue;
      if (pieces.at(-1)?.tile === tile) pieces.at(-1).to = (index + 1) * 2 ** level;
      else pieces.push({ tile, from: index * 2 ** level, to: (index + 1) * 2 ** level });
    }
    return pieces;
  }

  best(kind, level, index) {
    const own = this.kept.get(`${kind}/${level}/${index}`);
    if (own) return own;
    let coarse = null;
    for (let up = 1; level + up <= COARSEST; up += 1) {
      const tile = this.kept.get(`${kind}/${level + up}/${Math.floor(index / 2 ** up)}`);
      if (tile?.exact) return tile;
      coarse ??= tile;
    }
    if (own === undefined) this.want(kind, level, index);
    return coarse;
  }

  want(kind, level, index) {
    const address = `${kind}/${level}/${index}`;
    if (this.kept.has(address)) return;
    this.waiting.delete(address);
    this.waiting.set(address, { kind, level, index });
    this.next();
  }

  /** Loads the latest request first: it is the one in view. */
  next() {
    while (this.underWay < AT_ONCE && this.waiting.size) {
      const [address, what] = [...this.waiting].at(-1);
      this.waiting.delete(address);
      this.underWay += 1;
      this.fetch(address, what);
    }
    // Requests that scrolled out of view long ago are dropped.
    for (const address of [...this.waiting.keys()].slice(0, Math.max(0, this.waiting.size - 60)))
      this.waiting.delete(address);
  }

  async fetch(address, what) {
    this.kept.set(address, null);
    if (this.gone) {
      this.underWay -= 1;
      return;
    }
    try {
      const bytes = await this.load(address);
      if (bytes) this.kept.set(address, { ...what, address, ...decoded(bytes) });
      else if (what.level < COARSEST) this.want(what.kind, what.level + 1, Math.floor(what.index / 2));
      this.version += 1;
    } catch (error) {
      // It stays away: another request would most likely fail again.
      this.gone = error.status === 0 || error.status === 410;
      this.failed?.(error);
    }
    this.underWay -= 1;
    this.next();
    this.arrived();
  }

  /** Whether any tile is still to come. */
  get busy() {
    return this.underWay + this.waiting.size > 0;
  }
}

/** Columns of an Arrow stream as typed arrays, with `length` and `exact`. */
export function decoded(bytes) {
  const table = globalThis.Arrow.tableFromIPC(bytes);
  const columns = {};
  for (const field of table.schema.fields) columns[field.name] = table.getChild(field.name).toArray();
  return { columns, length: table.numRows, exact: table.schema.metadata.get('exact') === '1' };
}
