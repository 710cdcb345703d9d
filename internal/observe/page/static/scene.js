// The fixed part of the picture: the parts, the ways between them, and the light that a step leaves on
// both.

import {say, svg} from './dom.js';
import {layouts, parts} from './parts.js';

/** How long a light takes to go out, or a token to fade, in milliseconds. */
export const fade = 650;

export class Scene {
  /** Draws the layout 'wide' or 'narrow' into root. choose(id) is called for a part. */
  constructor(root, name, choose) {
    const layout = layouts[name];
    this.root = root;
    this.layout = layout;
    this.choosePart = choose;
    this.light = new Map();
    this.numbers = {};
    this.edges = {}; // the points of each way, there and back
    root.setAttribute('viewBox', `0 0 ${layout.width} ${layout.height}`);
    root.setAttribute('class', name);
    /** Where tokens travel. */
    this.lane = svg('g', {class: 'lane', 'aria-hidden': 'true'});
    root.replaceChildren(
      svg('defs', {}, svg('marker', {id: 'tip', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto-start-reverse'},
        svg('path', {d: 'M0 0L8 4L0 8Z', class: 'tip'}))),
      svg('g', {'aria-hidden': 'true'}, Object.entries(layout.edges).map(([id, edge]) => this.edge(id, edge))),
      ...parts.map((part) => this.part(part, layout.boxes[part.id])),
      this.lane,
    );
  }

  edge(id, {d, label, at, quiet}) {
    const line = svg('path', {d, class: quiet ? 'way quiet' : 'way', 'marker-end': 'url(#tip)'});
    const glow = svg('path', {d, class: 'way-glow', opacity: 0});
    const [from, to] = id.split('-');
    this.edges[id] = pointsOf(line);
    this.edges[`${to}-${from}`] ??= this.edges[id].toReversed();
    this.light.set(id, {element: glow, value: 0, shown: 0});
    return [glow, line, label && svg('text', {x: at[0], y: at[1], 'text-anchor': at[2] ?? 'start', class: 'way-label'}, label)];
  }

  part({id, name, folder}, [x, y, width, height]) {
    const glow = svg('rect', {x, y, width, height, rx: 12, class: 'part-glow', opacity: 0});
    const number = svg('text', {x: x + 16, y: y + height - 14, class: 'part-number'});
    const group = svg('g', {
      class: `part part-${id}`, tabindex: 0, role: 'button', 'aria-label': `${name}: what it is`, 'data-part': id,
      onclick: () => this.choosePart(id),
      onkeydown: (event) => {
        if (event.key === 'Enter' || event.key === ' ') {
          event.preventDefault();
          this.choosePart(id);
        }
      },
    },
    svg('rect', {x, y, width, height, rx: 12, class: 'part-box'}),
    glow,
    svg('text', {x: x + 16, y: y + 27, class: 'part-name'}, name),
    this.layout === layouts.wide && svg('text', {x: x + width - 14, y: y + 27, class: 'part-folder', 'text-anchor': 'end'}, folder),
    number,
    id === 'queue' && this.slots(x, y, width, height),
    );
    this.numbers[id] = number;
    this.light.set(id, {element: glow, value: 0, shown: 0});
    return group;
  }

  // One mark for each waiting key, as far as there is room.
  slots(x, y, width, height) {
    this.marks = Array.from({length: 10}, (_, i) => svg('rect', {
      x: x + width - 24 - i * 9, y: y + height - 25, width: 6, height: 13, rx: 2, class: 'mark', opacity: 0,
    }));
    return this.marks;
  }

  /** Shows the number of a part, as text. */
  number(id, text) {
    say(this.numbers[id], text);
  }

  /** Shows how many keys wait. */
  waiting(depth) {
    this.marks.forEach((mark, i) => mark.setAttribute('opacity', i < depth ? 1 : 0));
  }

  /** Marks the part in the panel, or none. */
  choose(id) {
    for (const group of this.root.querySelectorAll('.part')) {
      group.classList.toggle('chosen', group.dataset.part === id);
    }
  }

  /** Lights up a part, or a way as 'from-to'. */
  shine(id) {
    const light = this.light.get(id);
    if (light) {
      light.value = 1;
    }
  }

  /** Dims the lights by so many milliseconds. If still, they are on or off. */
  dim(passed, still) {
    for (const light of this.light.values()) {
      light.value = Math.max(0, light.value - passed / fade);
      const shown = still ? Number(light.value > 0) : Math.round(light.value * 12) / 12;
      if (shown !== light.shown) {
        light.shown = shown;
        light.element.setAttribute('opacity', shown);
      }
    }
  }
}

// The points of a way, a pixel or two apart: computing one in each frame is slow.
function pointsOf(line) {
  const length = line.getTotalLength();
  const n = Math.ceil(length) + 1;
  return Array.from({length: n}, (_, i) => {
    const {x, y} = line.getPointAtLength(length * i / (n - 1));
    return {x, y};
  });
}
