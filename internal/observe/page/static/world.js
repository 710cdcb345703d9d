// The state after a number of steps: the counts of each part, the objects, the waiting keys, and the
// busy workers. It is computed from the steps alone, in order, so that any moment can be computed
// again.

import {forgetOldest, objectOf, objectsOf, split} from './history.js';

const partNames = ['stream', 'store', 'handler', 'queue', 'worker', 'reconcile', 'request', 'server', 'program'];
const mostObjects = 20_000;
// Rates are averages over the last so many seconds.
const seconds = 5;

// The counts of a part; bins are the steps in each of the last seconds.
const newPart = () => ({total: 0, whats: {}, last: null, bins: new Map()});

function add(part, step) {
  part.total++;
  part.whats[step.what] = (part.whats[step.what] ?? 0) + 1;
  part.last = shortOf(step);
  const second = Math.floor(step.at / 1000);
  part.bins.set(second, (part.bins.get(second) ?? 0) + 1);
  forgetOldest(part.bins, seconds);
}

/** A part's steps per second, at that time. */
export function rateOf(part, now) {
  const before = Math.floor(now / 1000) - seconds;
  return [...part.bins].reduce((sum, [second, n]) => sum + (second > before ? n : 0), 0) / seconds;
}

// The data kept of the last step. A world is copied, and the step itself references all earlier steps.
const shortOf = ({n, at, what, text, kind, key, meaning}) => ({n, at, what, text, kind, key, meaning});

// The second part of the picture that shows a step.
function alsoAt(step) {
  if (step.part === 'store') {
    return 'handler';
  }
  return (step.part === 'stream' || step.part === 'request') ? 'server' : '';
}

export class World {
  constructor() {
    this.parts = Object.fromEntries(partNames.map((name) => [name, newPart()]));
    this.objects = new Map();
    this.kinds = {};
    this.statuses = {};
    this.busy = new Set();
    this.open = new Set();
    // How many keys wait in the queue, by kind.
    this.depths = {};
    // When a delayed key is due.
    this.later = new Map();
    this.time = 0;
    this.last = null;
  }

  /** How many keys wait, for all kinds. */
  get depth() {
    return Object.values(this.depths).reduce((sum, n) => sum + n, 0);
  }

  copy() {
    return Object.assign(new World(), structuredClone(this));
  }

  apply(step) {
    this.time = Math.max(this.time, step.at);
    this.last = shortOf(step);
    for (const part of [this.parts[step.part], this.parts[alsoAt(step)]].filter(Boolean)) {
      add(part, step);
    }
    switch (step.part) {
      case 'queue':
        this.depths[step.kind] = step.depth ?? 0;
        if (step.what === 'limited' || step.what === 'delayed') {
          this.later.set(step.key, step.at + (step.took ?? 0) / 1e6);
          forgetOldest(this.later, mostObjects);
        } else if (step.what !== 'coalesced') {
          this.later.delete(step.key);
        }
        break;
      case 'worker':
        this.depths[step.kind] = step.depth ?? 0;
        this.busy[step.what === 'got' ? 'add' : 'delete'](step.subject);
        break;
      case 'request':
        if (step.what !== 'sent') {
          const status = step.request?.status || 'no answer';
          this.statuses[status] = (this.statuses[status] ?? 0) + 1;
        }
        break;
      case 'stream':
        if (['opened', 'ended', 'refused'].includes(step.what)) {
          this.open[step.what === 'opened' ? 'add' : 'delete'](step.kind);
        }
        break;
    }
    objectsOf(step).forEach((id) => this.row(id, step));
  }

  // Keeps a row for each object, and one for the object whose reconcile a step leads to.
  row(id, step) {
    const row = this.objects.get(id) ?? {id, ...split(id), steps: 0, meaning: null, stored: false};
    // Set again, so that the Map is in the order of the last step.
    this.objects.delete(id);
    this.objects.set(id, row);
    const {part, what, n} = step;
    Object.assign(row, {part, what, n, steps: row.steps + 1});
    if (step.meaning && (objectOf(step) === id || step.part !== 'store')) {
      row.meaning = step.meaning;
    }
    if (step.part === 'store' && objectOf(step) === id) {
      this.store(row, step);
    }
    forgetOldest(this.objects, mostObjects);
  }

  store(row, step) {
    const stored = step.what !== 'deleted' && step.what !== 'tombstone';
    if (stored !== row.stored) {
      this.kinds[row.kind] = (this.kinds[row.kind] ?? 0) + (stored ? 1 : -1);
      row.stored = stored;
    }
  }
}
