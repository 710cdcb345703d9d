// The content of the picture as tables, for users who cannot see it, or want exact data.

import {byId, clock, count, counted, el, refill, say} from './dom.js';
import {objectOf} from './history.js';
import {chip} from './kinds.js';
import {partName} from './parts.js';

const mostSteps = 60;
const mostRows = 40;

export class Tables {
  /** on: {object(subject)} */
  constructor(history, on) {
    this.history = history;
    this.on = on;
    this.steps = byId('steps').tBodies[0];
    this.objects = byId('objects-table').tBodies[0];
    this.filter = byId('filter');
  }

  /** Shows the state at that time. */
  update(world, position) {
    // The mouse is down on a row: a redraw would lose the click.
    if (byId('objects').matches(':active')) {
      return;
    }
    this.updateSteps(position);
    this.updateObjects(world);
  }

  // Newest first.
  updateSteps(position) {
    const first = Math.max(this.history.first, position - mostSteps);
    refill(this.steps, [first, position], () => Array.from({length: position - first}, (_, i) => this.stepRow(this.history.at(position - 1 - i))));
  }

  stepRow(step) {
    return el('tr', {'data-seq': step.seq},
      el('td', {class: 'time'}, clock(step.at)),
      el('td', {class: 'part-of'}, partName(step.part)),
      // Keyboard users find the same in the list of objects.
      el('td', {class: 'name'}, step.subject && el('span', {class: 'follow', onclick: () => this.on.object(step.subject)}, objectOf(step) || step.subject)),
      el('td', {}, el('span', {class: 'what'}, step.what), step.meaning && el('span', {class: `badge tone-${step.meaning.tone}`}, step.meaning.text), step.echo && el('span', {class: 'badge tone-plain'}, 'echo'), ` ${step.text ?? ''}`),
    );
  }

  updateObjects(world) {
    const wanted = this.filter.value.trim().toLowerCase();
    const found = [...world.objects.values()].filter(({id}) => id.toLowerCase().includes(wanted));
    const shown = found.slice(-mostRows).reverse();
    // A focused row keeps the focus.
    const focused = this.objects.contains(document.activeElement) ? document.activeElement.dataset.subject : null;
    refill(this.objects, shown.map(({id, n}) => [id, n]), () => shown.map((row) => this.objectRow(row)));
    if (focused) {
      [...this.objects.querySelectorAll('button')].find((button) => button.dataset.subject === focused)?.focus({preventScroll: true});
    }
    say(byId('found'), found.length > mostRows ? `${mostRows} of ${count(found.length)}, the latest first` : counted(found.length, 'object'));
  }

  objectRow({id, kind, key, part, what, meaning, steps}) {
    return el('tr', {},
      el('th', {scope: 'row'}, el('button', {type: 'button', class: 'link', 'data-subject': id, onclick: () => this.on.object(id)}, chip(kind), ` ${key}`)),
      el('td', {}, `${partName(part)}: ${what}`),
      el('td', {}, meaning && el('span', {class: `badge tone-${meaning.tone}`}, meaning.text)),
      el('td', {class: 'number'}, count(steps)),
    );
  }
}
