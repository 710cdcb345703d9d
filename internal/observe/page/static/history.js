// The steps that the page keeps, the newest, and an index by object. It does not
// depend on the page's position in time.

import {lookOf} from './kinds.js';

const mostSteps = 50_000;
// Names of objects are kept longer than their steps, but not without limit.
const mostObjects = 20_000;

/** The object of a step, "" for none. */
export const objectOf = (step) => (step.key ? `${step.kind} ${step.key}` : '');

/** That object, and the object whose travel the step is part of. */
export const objectsOf = (step) => new Set([objectOf(step), step.subject].filter(Boolean));

/** The kind and the key of an object's name, "Foo default/x". */
export function split(name) {
  const [kind, ...key] = name.split(' ');
  return {kind, key: key.join(' ')};
}

const statusTexts = {200: 'OK', 201: 'Created', 202: 'Accepted', 400: 'Bad Request', 403: 'Forbidden', 404: 'Not Found', 409: 'Conflict', 410: 'Gone', 422: 'Invalid', 429: 'Too Many Requests', 500: 'Internal Error', 503: 'Unavailable'};

/** "409 Conflict" */
export const statusText = (status) => [status, statusTexts[status]].filter(Boolean).join(' ');

// The fields of an object whose changes have their own words.
function traits(object) {
  // A foreign object may have null for each.
  const [spec, metadata, status] = [object.spec ?? {}, object.metadata ?? {}, object.status ?? {}];
  return {
    replicas: spec.replicas,
    name: spec.deploymentName,
    leaving: Boolean(metadata.deletionTimestamp),
    uid: metadata.uid,
    available: status.availableReplicas ?? 0,
  };
}

// The same for an object as text, which may be truncated.
function traitsOf(text) {
  try {
    return traits(JSON.parse(text));
  } catch {
    return undefined;
  }
}

const some = (value) => (value === undefined || value === null ? 'none' : String(value));

function meaningOfChange(step, before, now) {
  if (step.what === 'deleted' || step.what === 'tombstone') {
    return {tone: 'bad', text: 'deleted'};
  }
  if (!before || !now) {
    return step.what !== 'added' ? null : step.cause === 'the first list' ? {tone: 'plain', text: 'in the first list'} : {tone: 'good', text: 'new'};
  }
  const [, tone, text] = [
    [before.uid !== now.uid, 'good', 'new, under a name that was used before'],
    [now.leaving && !before.leaving, 'bad', 'is being deleted'],
    [before.name !== now.name, 'note', `renamed ${some(before.name)} → ${some(now.name)}`],
    [before.replicas !== now.replicas, 'note', `scaled ${some(before.replicas)} → ${some(now.replicas)}`],
    [before.available !== now.available, 'good', `available ${before.available} → ${now.available}`],
  ].find(([changed]) => changed) ?? [];
  return text ? {tone, text} : null;
}

function meaningOfOutcome({part, what, request}) {
  if (part === 'handler' || part === 'reconcile' && what === 'failed') {
    return {tone: 'bad', text: part === 'handler' ? 'ignored' : 'error'};
  }
  if (part !== 'request' || !request) {
    return null;
  }
  if (request.status === 409) {
    return {tone: 'bad', text: request.method === 'POST' ? '409: exists already' : '409 Conflict'};
  }
  if (request.status >= 400) {
    return {tone: 'bad', text: statusText(request.status)};
  }
  return what === 'failed' ? {tone: 'bad', text: 'no answer'} : null;
}

export class History {
  constructor() {
    this.trimmed = () => {};
    this.clear();
  }

  /** Forgets everything when the process changes. */
  clear() {
    this.steps = [];
    this.first = 0; // the number of steps[0] among all that ever came
    this.lastSeq = 0;
    this.gaps = 0;
    this.subjects = new Map();
    this.traits = new Map();
    this.gone = new Map(); // deleted objects, by name
    this.asked = new Map(); // changes in the last sent request, by name
    this.latest = new Map();
  }

  /** The number of the next step. */
  get end() {
    return this.first + this.steps.length;
  }

  at(n) {
    return this.steps[n - this.first];
  }

  /** Keeps a step. A known step is not kept again. */
  add(step) {
    if (step.seq <= this.lastSeq) {
      return;
    }
    if (this.lastSeq > 0) {
      this.gaps += step.seq - this.lastSeq - 1;
    }
    this.lastSeq = step.seq;
    step.n = this.end;
    step.at = Date.parse(step.time) || 0;
    lookOf(step.kind);
    // The object whose travel the step is part of: the one whose reconcile it leads to, else its own.
    step.subject = step.for || objectOf(step);
    step.meaning = this.meaning(step);
    if (step.part === 'request' && step.request) {
      step.change = this.changeOf(step);
    }
    this.steps.push(step);
    this.index(step);
    this.trim();
  }

  meaning(step) {
    if (step.part !== 'store' || !step.key) {
      return meaningOfOutcome(step);
    }
    const id = objectOf(step);
    const before = this.traits.get(id);
    const now = step.object ? traits(step.object) : undefined;
    const meaning = meaningOfChange(step, before, now);
    // Set again, so that the Map is in the order of the last change.
    this.traits.delete(id);
    if (meaning?.text === 'deleted') {
      this.gone.set(id, true);
      forgetOldest(this.gone, mostObjects);
    } else if (now) {
      this.traits.set(id, now);
      forgetOldest(this.traits, mostObjects);
    }
    return meaning;
  }

  // The change that a write makes. Its event may arrive before the response.
  changeOf({what, request: {method, status, body}, ...step}) {
    const id = objectOf(step);
    if (what === 'sent') {
      this.asked.set(id, method === 'PUT' && meaningOfChange(step, this.traits.get(id), traitsOf(body))?.text || 'updated');
      forgetOldest(this.asked, mostObjects);
    }
    return status === 201 ? `created${this.gone.has(id) ? ' again' : ''}` : method === 'DELETE' ? 'deleted' : this.asked.get(id);
  }

  index(step) {
    const id = objectOf(step);
    if (step.object) {
      // Only the store and the stream have objects. The first of both shows the change, the second
      // shows none.
      step.before = this.latest.get(id);
      this.latest.set(id, step);
    }
    for (const subject of objectsOf(step)) {
      if (!this.subjects.has(subject)) {
        this.subjects.set(subject, []);
      }
      this.subjects.get(subject).push(step);
    }
  }

  // Drops the oldest eighth at once, so that it rarely runs.
  trim() {
    if (this.steps.length <= mostSteps) {
      return;
    }
    const gone = this.steps.splice(0, Math.max(1, this.steps.length >> 3));
    this.first += gone.length;
    this.trimmed(gone);
    for (const step of gone) {
      if (this.latest.get(objectOf(step)) === step) {
        this.latest.delete(objectOf(step));
      }
      // A later step may reference this one: drop its content.
      step.object = step.before = step.request = undefined;
    }
    for (const [subject, steps] of this.subjects) {
      const kept = steps.filter((step) => step.n >= this.first);
      if (kept.length > 0) {
        this.subjects.set(subject, kept);
      } else {
        this.subjects.delete(subject);
      }
    }
  }

  /** The steps of an object before number end, oldest first. */
  of(subject, end) {
    const steps = this.subjects.get(subject) ?? [];
    return steps.slice(0, steps.findLastIndex((step) => step.n < end) + 1);
  }

  /** The number of the kept step with that Seq, -1 if not kept. */
  find(seq) {
    const step = this.steps.findLast((kept) => kept.seq <= seq);
    return step?.seq === seq ? step.n : -1;
  }

  /** The number of the first kept step in the last so many milliseconds. */
  firstOfLast(milliseconds) {
    const since = this.steps.at(-1)?.at - milliseconds;
    return this.first + Math.max(0, this.steps.findIndex((step) => step.at >= since));
  }
}

export function forgetOldest(map, most) {
  while (map.size > most) {
    map.delete(map.keys().next().value);
  }
}
