// The objects as kubectl prints them, with the API server's own columns: of a program that is seen
// from outside, whose objects nobody here knows beforehand.

import {el, refill} from './dom.js';

const every = 3000;

export class Printed {
  constructor(section) {
    this.section = section;
  }

  /** Whether there is a server to ask. */
  show(is) {
    this.section.hidden = !is;
    clearInterval(this.timer);
    if (is) {
      this.ask();
      this.timer = setInterval(() => this.ask(), every);
    }
  }

  async ask() {
    if (document.hidden) {
      return; // Nobody looks.
    }
    try {
      const text = await (await fetch('tables')).text();
      refill(this.section, text, () => JSON.parse(text).flatMap((table) => this.table(table)));
    } catch {
      // The program has ended. The page says so elsewhere.
    }
  }

  table({resource, columnDefinitions, rows}) {
    return [el('h2', {}, resource), el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': resource},
      el('table', {},
        el('thead', {}, el('tr', {}, columnDefinitions.map(({name}) => el('th', {scope: 'col'}, name)))),
        el('tbody', {}, rows.map(({cells}) => el('tr', {}, cells.map((cell) => el('td', {}, String(cell ?? '')))))),
      ),
    )];
  }
}
