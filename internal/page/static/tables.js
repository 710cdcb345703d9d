// What the picture shows, as tables: for those who do not see it, and for those
// who want it exactly.

import {byId, clock, count, counted, el, say} from './dom.js';
import {objectOf} from './history.js';
import {chip} from './kinds.js';
import {lineOf} from './panel.js';
import {partName, parts} from './parts.js';

const mostSteps = 60;
const mostRows = 40;
// With more steps a second than this, lists change once a second: no person reads faster.
const busy = 200;
const everyBusy = 1000;

export class Tables {
  /** on: {part(id), object(subject)} */
  constructor(history, on) {
    this.history = history;
    this.on = on;
    this.steps = byId('steps').tBodies[0];
    this.objects = byId('objects-table').tBodies[0];
    this.filter = byId('filter');
    this.shownSteps = {first: -1, end: -1};
    this.shownObjects = '';
    this.cells = {};
    this.listed = 0;
    // By keyboard the same is in the list of objects.
    this.steps.addEventListener('click', (event) => {
      const {subject} = event.target.closest('[data-subject]')?.dataset ?? {};
      if (subject) {
        this.on.object(subject);
      }
    });
    byId('parts-table').tBodies[0].replaceChildren(...parts.map((part) => this.partRow(part)));
  }

  partRow({id, name}) {
    const cells = this.cells[id] = {now: el('td'), total: el('td', {class: 'number'}), rate: el('td', {class: 'number'}), last: el('td')};
    return el('tr', {}, el('th', {scope: 'row'}, el('button', {type: 'button', class: 'link', onclick: () => this.on.part(id)}, name)),
      cells.now, cells.total, cells.rate, cells.last);
  }

  /** Shows what is so at that time. must says that a person has asked for it. */
  update(world, position, now, {rate, must}) {
    // Nobody looks, or somebody holds the mouse down on a row: a click on a row that is drawn anew
    // meanwhile is lost.
    if (this.objects.closest('[hidden]') || byId('objects').matches(':active')) {
      return;
    }
    for (const [id, cells] of Object.entries(this.cells)) {
      const part = world.parts[id];
      say(cells.now, lineOf(id, world, now));
      say(cells.total, count(part.total));
      say(cells.rate, part.rate(now).toFixed(1));
      say(cells.last, part.last ? `${part.last.what} ${objectOf(part.last)}` : '');
    }
    const clock = performance.now();
    if (must || rate < busy || clock - this.listed > everyBusy) {
      this.listed = clock;
      this.updateSteps(position);
      this.updateObjects(world);
    }
  }

  // The newest first. What is shown already stays.
  updateSteps(position) {
    const first = Math.max(this.history.first, position - mostSteps);
    const {first: shownFirst, end: shownEnd} = this.shownSteps;
    if (first === shownFirst && position === shownEnd) {
      return;
    }
    let from = shownEnd;
    if (position < shownEnd || first >= shownEnd || first < shownFirst) {
      this.steps.replaceChildren();
      from = first;
    }
    const rows = [];
    for (let n = position - 1; n >= from; n--) {
      rows.push(this.stepRow(this.history.at(n)));
    }
    this.steps.prepend(...rows);
    while (this.steps.rows.length > mostSteps) {
      this.steps.lastElementChild.remove();
    }
    this.shownSteps = {first, end: position};
  }

  stepRow(step) {
    return el('tr', {'data-seq': step.seq},
      el('td', {class: 'time'}, clock(step.at)),
      el('td', {class: 'part-of'}, partName(step.part)),
      el('td', {class: 'name'}, step.subject && el('span', {class: 'follow', 'data-subject': step.subject}, objectOf(step) || step.subject)),
      el('td', {}, el('span', {class: 'what'}, step.what), step.meaning && el('span', {class: `badge tone-${step.meaning.tone}`}, step.meaning.text), step.echo && el('span', {class: 'badge tone-plain'}, 'echo'), ` ${step.text ?? ''}`),
    );
  }

  updateObjects(world) {
    const wanted = this.filter.value.trim().toLowerCase();
    const rows = [];
    let found = 0;
    for (const row of world.objects.values()) {
      if (!wanted || row.id.toLowerCase().includes(wanted)) {
        found++;
        rows.push(row);
      }
    }
    const shown = rows.slice(-mostRows).reverse();
    const key = JSON.stringify(shown.map((row) => [row.id, row.n]));
    if (key !== this.shownObjects) {
      this.shownObjects = key;
      this.replaceObjects(shown);
    }
    say(byId('found'), found > mostRows ? `${mostRows} of ${count(found)}, the latest first` : counted(found, 'object'));
  }

  replaceObjects(rows) {
    // A row that has the focus keeps it.
    const focused = this.objects.contains(document.activeElement) ? document.activeElement.dataset.subject : null;
    this.objects.replaceChildren(...rows.map((row) => el('tr', {},
      el('th', {scope: 'row'}, el('button', {type: 'button', class: 'link', 'data-subject': row.id, onclick: () => this.on.object(row.id)},
        chip(row.kind), ` ${row.key}`)),
      el('td', {}, `${partName(row.part)}: ${row.what}`),
      el('td', {}, row.meaning && el('span', {class: `badge tone-${row.meaning.tone}`}, row.meaning.text)),
      el('td', {class: 'number'}, count(row.steps)),
    )));
    if (focused) {
      [...this.objects.querySelectorAll('button')].find((button) => button.dataset.subject === focused)?.focus({preventScroll: true});
    }
  }
}
