// A map of access points, stations, interferers and walls in metres. Movable ones are dragged, or moved by the arrow keys.

import { element } from 'lasthop/ui.js';

const SPACE = 'http://www.w3.org/2000/svg';
const MARGIN = 46;
// Size of a label: width of a letter, height of a line.
const LETTER = 6.8,
  LINE = 13;
// Of a word along an edge, and around a node.
const GRID_LETTER = 5.5,
  NODE = 8;

function shape(name, attributes = {}, ...children) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) if (value != null) made.setAttribute(key, value);
  made.append(...children.filter(Boolean));
  return made;
}

const metres = (value) => Number(value.toFixed(2));

/** 1, 2 or 5 times a power of ten, for about ten lines across a span. */
function step(span) {
  const least = span / 8,
    power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((each) => each * power >= least) ?? 10);
}

/**
 * A map in `place`. `moved(what)` is called to write a move to the text: `path` with `x` and `y`, with `distance`, or with `end`,
 * `x` and `y` of a wall.
 */
export class PlaceMap {
  constructor(place, moved) {
    this.moved = moved;
    this.view = null;
    this.chosen = null;
    this.width = 480;
    this.height = 360;
    this.svg = shape('svg', { class: 'map', role: 'group', 'aria-label': 'map of access points, stations and walls' });
    this.said = element('p', { class: 'quiet', role: 'status' });
    const button = (text, label, act) =>
      element('button', { type: 'button', title: label, 'aria-label': label, onclick: act }, text);
    const buttons = element(
      'div',
      { class: 'row map-buttons' },
      button('+', 'nearer', () => this.zoom(0.7)),
      button('−', 'farther', () => this.zoom(1 / 0.7)),
      button('fit', 'all in view', () => this.fit()),
    );
    place.replaceChildren(this.svg, buttons, this.said);
    new ResizeObserver(() => this.sized()).observe(this.svg);
  }

  /** Makes it as wide as there is room, with one unit per pixel of the page, so that letters keep their size. */
  sized() {
    const { clientWidth: width, clientHeight: height } = this.svg;
    if (!width || (width === this.width && height === this.height)) return;
    const grown = width / this.width;
    [this.width, this.height] = [width, height];
    if (!this.view) return;
    this.view.scale *= grown;
    this.draw();
  }

  /** Draws all places; null leaves the map unchanged, as while the text has a mistake. */
  show(places) {
    if (!places) {
      this.svg.classList.add('old');
      return;
    }
    this.svg.classList.remove('old');
    this.places = places;
    if (!this.view || !this.holdsAll()) this.fitted();
    this.draw();
  }

  points() {
    const { nodes, walls } = this.places;
    return [
      ...nodes.flatMap((node) => [[node.x, node.y], ...(node.way ?? [])]),
      ...walls.flatMap((wall) => [wall.from, wall.to]),
    ];
  }

  holdsAll() {
    return this.points().every(([x, y]) => {
      const [px, py] = this.pixel(x, y);
      return px >= 0 && px <= this.width && py >= 0 && py <= this.height;
    });
  }

  fitted() {
    const points = this.points(),
      xs = points.map(([x]) => x),
      ys = points.map(([, y]) => y);
    const [west, east, south, north] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const scale = Math.min(
      (this.width - 2 * MARGIN) / Math.max(east - west, 2),
      (this.height - 2 * MARGIN) / Math.max(north - south, 2),
    );
    this.view = { x: (west + east) / 2, y: (south + north) / 2, scale };
  }

  fit() {
    if (!this.places) return;
    this.fitted();
    this.draw();
  }

  zoom(factor) {
    if (!this.view) return;
    this.view.scale /= factor;
    this.draw();
  }

  pixel(x, y) {
    return [
      this.width / 2 + (x - this.view.x) * this.view.scale,
      this.height / 2 - (y - this.view.y) * this.view.scale,
    ];
  }

  metresAt(event) {
    const box = this.svg.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    return [
      this.view.x + (px - this.width / 2) / this.view.scale,
      this.view.y - (py - this.height / 2) / this.view.scale,
    ];
  }

  draw() {
    const focused = document.activeElement?.getAttribute('data-what');
    const { nodes, walls, hidden } = this.places;
    this.labelled = [];
    this.spots = this.spread(nodes);
    // Labels keep off all nodes.
    for (const [x, y] of this.spots.values()) this.labelled.push({ x: x - NODE, y, width: 2 * NODE });
    const at = new Map(nodes.map((node) => [node.name, node]));
    this.svg.replaceChildren(
      this.grid(),
      this.ranges(),
      shape(
        'g',
        {},
        ...hidden
          .filter(([a, b]) => at.has(a) && at.has(b))
          .map(([a, b]) => this.line('hidden-pair', at.get(a), at.get(b), `${a} and ${b} do not hear one another`)),
      ),
      shape(
        'g',
        {},
        ...nodes
          .filter((node) => node.way)
          .map((node) =>
            shape('polyline', { class: 'way', points: node.way.map(([x, y]) => this.pixel(x, y).join(',')).join(' ') }),
          ),
      ),
      shape('g', {}, ...walls.flatMap((wall) => this.wall(wall))),
      shape('g', {}, ...nodes.map((node) => this.node(node))),
    );
    if (focused) this.svg.querySelector(`[data-what="${CSS.escape(focused)}"]`)?.focus();
    this.tell();
  }

  /** Where each node is drawn: nodes on one spot are spread on a small circle around it, so that each can be seen and taken. */
  spread(nodes) {
    const groups = new Map();
    for (const node of nodes) {
      const spot = this.pixel(node.x, node.y),
        key = spot.map((value) => Math.round(value / NODE)).join(' ');
      groups.set(key, [...(groups.get(key) ?? []), [node.name, spot]]);
    }
    const spots = new Map();
    for (const group of groups.values()) {
      const radius = group.length > 1 ? Math.max(NODE, (group.length * 2.2 * NODE) / (2 * Math.PI)) : 0;
      group.forEach(([name, [x, y]], number) => {
        const angle = (2 * Math.PI * number) / group.length;
        spots.set(name, [x + radius * Math.cos(angle), y + radius * Math.sin(angle)]);
      });
    }
    return spots;
  }

  grid() {
    const every = step(this.width / this.view.scale),
      lines = [];
    const [west, east] = [
      this.view.x - this.width / 2 / this.view.scale,
      this.view.x + this.width / 2 / this.view.scale,
    ];
    const [south, north] = [
      this.view.y - this.height / 2 / this.view.scale,
      this.view.y + this.height / 2 / this.view.scale,
    ];
    for (let x = Math.ceil(west / every) * every; x <= east; x += every) {
      const [px] = this.pixel(x, 0),
        word = `${metres(x)} m`;
      lines.push(shape('line', { x1: px, x2: px, y1: 0, y2: this.height }));
      // A word that the edge would cut is left out.
      if (px + 2 + word.length * GRID_LETTER < this.width)
        lines.push(shape('text', { x: px + 2, y: this.height - 4 }, word));
    }
    for (let y = Math.ceil(south / every) * every; y <= north; y += every) {
      const [, py] = this.pixel(0, y);
      lines.push(shape('line', { x1: 0, x2: this.width, y1: py, y2: py }));
      if (py > 2 * LINE && py < this.height - 2 * LINE) {
        const word = `${metres(y)} m`;
        lines.push(shape('text', { x: 2, y: py - 2 }, word));
        // Names of nodes keep off it.
        this.labelled.push({ x: 2, y: py - 5, width: word.length * GRID_LETTER });
      }
    }
    return shape('g', { class: 'grid' }, ...lines);
  }

  ranges() {
    const node = this.places.nodes.find((each) => each.name === this.chosen) ?? this.places.nodes[0];
    const [x, y] = this.pixel(node.x, node.y);
    const rings = (this.places.ranges[node.bss] ?? []).map((range) =>
      shape(
        'circle',
        { class: 'range', cx: x, cy: y, r: range.metres * this.view.scale },
        shape('title', {}, range.label),
      ),
    );
    return shape('g', {}, ...rings);
  }

  line(kind, from, to, title) {
    const [x1, y1] = this.pixel(from.x, from.y),
      [x2, y2] = this.pixel(to.x, to.y);
    return shape('line', { class: kind, x1, y1, x2, y2 }, title && shape('title', {}, title));
  }

  wall(wall) {
    const [from, to] = [wall.from, wall.to].map(([x, y]) => ({ x, y }));
    const ends = [
      ['from', from],
      ['to', to],
    ].map(([end, place]) => {
      const [x, y] = this.pixel(place.x, place.y);
      const handle = shape('rect', {
        class: 'wall-end movable',
        x: x - 4,
        y: y - 4,
        width: 8,
        height: 8,
        tabindex: 0,
        role: 'button',
        'data-what': `${wall.path}.${end}`,
      });
      handle.setAttribute(
        'aria-label',
        `wall ${wall.path.split('.')[1]}, its ${end === 'from' ? 'beginning' : 'end'}, at ${metres(place.x)}, ${metres(place.y)} m; arrow keys move it`,
      );
      this.movable(
        handle,
        place,
        (x, y) => ({ path: wall.path, end, x, y }),
        (x, y) => {
          handle.setAttribute('x', x - 4);
          handle.setAttribute('y', y - 4);
        },
      );
      return handle;
    });
    return [this.line('wall', from, to, `${wall.loss} through it`), ...ends];
  }

  node(node) {
    const [x, y] = this.spots.get(node.name);
    const marks = { ap: 'M0,-8 L7.5,5 L-7.5,5 Z', interferer: 'M0,-7 L7,0 L0,7 L-7,0 Z' };
    const mark = marks[node.kind] ? shape('path', { d: marks[node.kind] }) : shape('circle', { r: 5 });
    const label = this.label(node.name, x, y);
    const kind = `node ${node.kind}${node.drag ? ' movable' : ''}${node.name === this.chosen ? ' chosen' : ''}`;
    const group = shape(
      'g',
      { class: kind, transform: `translate(${x},${y})`, tabindex: 0, role: 'button', 'data-what': node.name },
      shape('title', {}, node.name),
      mark,
      label,
    );
    const how =
      node.drag === 'position'
        ? '; arrow keys move it'
        : node.drag === 'distance'
          ? '; arrow keys change the distance of its group'
          : '';
    group.setAttribute('aria-label', `${node.name} at ${metres(node.x)}, ${metres(node.y)} m${how}`);
    group.addEventListener('focus', () => this.choose(node));
    if (node.drag)
      this.movable(
        group,
        node,
        (px, py) => this.move(node, px, py),
        (px, py) => group.setAttribute('transform', `translate(${px},${py})`),
      );
    return group;
  }

  /** A name to the right of a node, else to its left, below or above; null if each of these places is taken. */
  label(name, x, y) {
    const width = name.length * LETTER;
    const places = [
      [NODE + 1, 4, 'start', x + NODE + 1],
      [-NODE - 1, 4, 'end', x - NODE - 1 - width],
      [0, NODE + LINE, 'middle', x - width / 2],
      [0, -NODE - 3, 'middle', x - width / 2],
    ];
    for (const [dx, dy, anchor, left] of places) {
      const middle = y + dy - 4;
      const isInside = left >= 0 && left + width <= this.width && middle > LINE && middle < this.height - 2 * LINE;
      if (isInside && this.hasRoom(left, middle, width))
        return shape('text', { x: dx, y: dy, 'text-anchor': anchor }, name);
    }
    return null;
  }

  /** Whether a label fits next to the existing ones; if so it takes its room. */
  hasRoom(x, y, width) {
    const fits = this.labelled.every(
      (other) => x + width < other.x || other.x + other.width < x || Math.abs(y - other.y) > LINE,
    );
    if (fits) this.labelled.push({ x, y, width });
    return fits;
  }

  choose(node) {
    if (this.chosen === node.name) return;
    this.chosen = node.name;
    this.svg
      .querySelectorAll('.node')
      .forEach((each) => each.classList.toggle('chosen', each.dataset.what === node.name));
    this.svg.children[1].replaceWith(this.ranges());
    this.tell();
  }

  /** The change of the text that moves a node to a place. */
  move(node, x, y) {
    if (node.drag === 'position') return { path: node.path, x, y };
    const home = this.places.nodes.find((each) => each.kind === 'ap' && each.bss === node.bss);
    return { path: node.path, distance: Math.max(0.1, Math.hypot(x - home.x, y - home.y)) };
  }

  movable(mark, place, what, show) {
    mark.addEventListener('pointerdown', (event) => {
      if (event.button) return;
      event.preventDefault();
      mark.focus();
      mark.setPointerCapture(event.pointerId);
      const start = [event.clientX, event.clientY];
      let now = null;
      const drag = (next) => {
        if (!now && Math.hypot(next.clientX - start[0], next.clientY - start[1]) < 3) return;
        now = this.metresAt(next);
        show(...this.pixel(...now));
        this.said.textContent = `${metres(now[0])}, ${metres(now[1])} m`;
      };
      const drop = () => {
        mark.removeEventListener('pointermove', drag);
        if (now) this.moved(what(...now.map((value) => Number(value.toFixed(1)))));
      };
      mark.addEventListener('pointermove', drag);
      mark.addEventListener('pointerup', drop, { once: true });
      mark.addEventListener(
        'pointercancel',
        () => {
          mark.removeEventListener('pointermove', drag);
          this.draw();
        },
        { once: true },
      );
    });
    mark.addEventListener('keydown', (event) => {
      const far = event.shiftKey ? 0.1 : 1;
      const way = { ArrowLeft: [-far, 0], ArrowRight: [far, 0], ArrowUp: [0, far], ArrowDown: [0, -far] }[event.key];
      if (!way) return;
      event.preventDefault();
      this.moved(what(metres(place.x + way[0]), metres(place.y + way[1])));
    });
  }

  tell() {
    const { nodes, more, ranges, weakens } = this.places;
    const node = nodes.find((each) => each.name === this.chosen);
    const lines = [];
    if (node) lines.push(`${node.name}: ${metres(node.x)}, ${metres(node.y)} m${node.why ? `; ${node.why}` : ''}.`);
    if (!weakens) lines.push('Places have no effect, as path_loss is "none": everybody hears everybody.');
    else
      lines.push(
        ...ranges[node?.bss ?? 0].map((range) => `${range.label}.`.replace(/^./, (letter) => letter.toUpperCase())),
      );
    if (more) lines.push(`${more} more are not drawn.`);
    this.said.textContent = lines.join(' ');
  }
}
