// The panel next to the picture: a part and its numbers, or an object and its history.

import {clock, count, counted, el, refill, took} from './dom.js';
import {brief, difference} from './diff.js';
import {split, statusText} from './history.js';
import {chip, kindsSeen} from './kinds.js';
import {isInside, partById, partName, view} from './parts.js';
import {rateOf} from './world.js';

// How many steps of a history are shown, the newest.
const mostShown = 300;
// The commands in the project's own recording, which can also be tried live.
const ownRecording = 'recording.json';
const commands = `kubectl apply -f config/samples
kubectl delete deployment example-foo
kubectl scale foo example-foo --replicas=3
kubectl scale deployment example-foo \\
  --replicas=7
kubectl patch foo example-foo --type=merge \\
  -p '{"spec":{"deploymentName":"renamed"}}'
kubectl delete foo example-foo
kubectl patch project example-project \\
  --type=merge -p '{"spec":{"replicas":2}}'`;

/** How a file, and a function in it, is named. A page that has the files replaces this. */
export const files = {named: (file) => el('code', {}, file)};

export class Panel {
  /** on: {seek(n), close()} */
  constructor(root, history, on) {
    this.root = root;
    this.history = history;
    this.on = on;
    this.hello = null;
    this.welcome();
  }

  /** Takes the feed's greeting: whether this is live, and how to reach the cluster. */
  meet(hello) {
    this.hello = hello;
    if (!this.shows) {
      this.welcome();
    }
  }

  welcome() {
    this.shows = null;
    this.root.classList.remove('open');
    this.kinds = el('li');
    this.root.replaceChildren(
      el('h2', {}, 'How to read this'),
      el('p', {}, 'An object goes round. A change comes down the left side, from the API server into memory. At the bottom it is no more than a key, which waits for a worker. On the right the reconcile compares, and sends what differs back up. That write is a change, too: it comes down on the left again, and then it is quiet.'),
      el('ul', {class: 'legend'},
        this.kinds,
        el('li', {}, el('span', {class: 'chip round'}, 'key'), ' a key: a namespace and a name, no more, in the color of its kind'),
        el('li', {}, el('span', {class: 'chip square tone-plain'}, 'PUT'), ' a request, ', el('span', {class: 'chip square tone-good'}, '200'), ' its answer'),
      ),
      el('p', {}, 'Choose a part in the picture to read about it and to find its code, or an object in the table to follow it alone.'),
      ...this.whatHappens(),
    );
  }

  // The commands in other recordings are not known.
  whatHappens() {
    const {recording, shell, played} = this.hello ?? {};
    const titled = (title, text) => [el('h3', {}, title), el('pre', {class: 'wire', tabindex: 0}, text)];
    if (recording) {
      return recording === ownRecording ? titled('What the recording did', commands) : [];
    }
    return this.hello && !played && !view.outside ? titled('Make something happen', `# in a second terminal, in the project's folder\n${shell ?? ''}${commands}`) : [];
  }

  close() {
    return el('button', {type: 'button', class: 'close', onclick: () => this.on.close()}, 'Close');
  }

  showPart(id) {
    const part = partById[id];
    this.shows = {part: id};
    this.root.classList.add('open');
    this.numbers = el('dl', {class: 'numbers'});
    this.root.replaceChildren(
      el('div', {class: 'panel-head'}, el('h2', {}, part.name), this.close()),
      ...(isInside(id) ? [el('p', {}, 'This is inside the program: not seen from here. In general:')] : []),
      ...part.about.map((text) => el('p', {}, text)),
      el('h3', {}, 'Its code'),
      el('ul', {class: 'places', translate: 'no'}, part.where.map(([file, name]) => el('li', {}, files.named(file, name), ` ${name}`))),
      el('h3', {}, 'Numbers'), this.numbers,
    );
  }

  showObject(subject) {
    const {kind, key} = split(subject);
    this.shows = {subject};
    this.root.classList.add('open');
    this.list = el('ol', {class: 'history'});
    this.count = el('p', {class: 'quiet'});
    this.root.replaceChildren(
      el('div', {class: 'panel-head'}, el('h2', {}, chip(kind), ' ', key), this.close()),
      this.count,
      this.list,
    );
    this.shown = {first: -1, last: -1};
  }

  /** Shows the newest numbers or steps; called a few times a second. */
  update(world, position, now) {
    if (this.shows?.part) {
      this.updatePart(world, now);
    } else if (this.shows?.subject) {
      this.updateObject(position);
    } else {
      refill(this.kinds, kindsSeen(), () => kindsSeen().flatMap((kind) => [chip(kind), `\u00a0${kind} `]));
    }
  }

  updatePart(world, now) {
    const id = this.shows.part;
    const numbers = numbersOf(id, world, now);
    refill(this.numbers, numbers, () => numbers.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
  }

  // New steps are appended; any other change redraws the history.
  updateObject(position) {
    const steps = this.history.of(this.shows.subject, position);
    const shown = steps.slice(-mostShown);
    const [first, last] = [shown[0]?.n, shown.at(-1)?.n];
    if (first === this.shown.first && last === this.shown.last) {
      return;
    }
    const atEnd = this.root.scrollTop + this.root.clientHeight >= this.root.scrollHeight - 40;
    const grows = first === this.shown.first && last > this.shown.last;
    if (!grows) {
      this.list.replaceChildren();
    }
    shown.forEach((step, i) => {
      if (!grows || step.n > this.shown.last) {
        this.list.append(this.item(step, shown[i - 1]));
      }
    });
    this.shown = {first, last};
    this.count.textContent = steps.length > mostShown ? `The last ${mostShown} of ${counted(steps.length, 'step')}.` : `${counted(steps.length, 'step')}.`;
    if (!grows) {
      const decisive = [...this.list.querySelectorAll('.decisive')].at(-1);
      this.root.scrollTop = decisive ? decisive.offsetTop - this.list.offsetTop : this.root.scrollHeight;
    } else if (atEnd) {
      this.root.scrollTop = this.root.scrollHeight;
    }
  }

  item(step, before) {
    const {meaning} = step;
    return el('li', {class: `entry at-${step.part}${isDecisive(step) ? ' decisive' : ''}`, 'data-seq': step.seq},
      el('div', {class: 'entry-head'},
        el('button', {type: 'button', class: 'time', title: 'Go to this moment', onclick: () => this.on.seek(step.n + 1)}, clock(step.at)),
        el('span', {class: 'delta'}, before ? `+${took(Math.max(0, step.at - before.at))}` : ''),
        el('span', {class: 'entry-part'}, `${partName(step.part)}: ${step.what}`),
        meaning && el('span', {class: `badge tone-${meaning.tone}`}, meaning.text),
        step.echo && el('span', {class: 'badge tone-plain'}, 'its own write, coming back'),
      ),
      step.text && el('p', {class: 'entry-text'}, step.text),
      step.cause && el('p', {class: 'cause'}, 'because: ', this.causeOf(step)),
      step.request && wireForm(step),
      step.object && changes(step),
      (step.file || step.took) && el('p', {class: 'place', translate: 'no'}, step.took ? `${took(step.took / 1e6)}  ` : '', step.file && files.named(step.file, step.func), step.func ? ` ${step.func}` : ''),
    );
  }

  causeOf(step) {
    const n = step.causeSeq ? this.history.find(step.causeSeq) : -1;
    return n < 0 ? step.cause : el('button', {type: 'button', class: 'link', title: 'Go to that moment', onclick: () => this.on.seek(n + 1)}, step.cause);
  }
}

// Whether the step is important in a history: an object has changed, or is to be changed.
function isDecisive({part, what, meaning, request}) {
  return part === 'request' ? what === 'sent' && request && request.method !== 'GET' && !request.path?.endsWith('/status')
    : part === 'server' || part === 'store' && Boolean(meaning) && !/^(available|in the first list)/.test(meaning.text);
}

// A request as sent, or its response.
function wireForm(step) {
  const {method, path, query, status, bytes, body, reply} = step.request;
  const line = `${method} ${path}${query ? `?${query}` : ''}`;
  if (step.part === 'stream' || step.what === 'sent') {
    return [el('pre', {class: 'wire', tabindex: 0}, `${line} HTTP/1.1${status ? `\n→ ${statusText(status)}` : ''}`), more('Body', body)];
  }
  const answer = status ? statusText(status) : 'no answer';
  return [
    el('pre', {class: status && status < 400 ? 'wire' : 'wire tone-bad', tabindex: 0}, `${line}\n→ ${answer}${bytes ? `, ${count(bytes)} bytes` : ''}`),
    more('Answer', reply),
  ];
}

function more(title, text) {
  if (!text) {
    return null;
  }
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch { /* cut off, or not JSON: as it is */ }
  return el('details', {}, el('summary', {}, title), el('pre', {class: 'wire', tabindex: 0}, shown));
}

// The changes since the object was last seen.
function changes(step) {
  const before = step.before?.object;
  if (!before) {
    return more(`The object${step.version ? ` at version ${step.version}` : ''}`, JSON.stringify(step.object));
  }
  const found = difference(before, step.object);
  if (found.length === 0) {
    return null;
  }
  return el('details', {open: true}, el('summary', {}, `${counted(found.length, 'field')} changed`),
    el('ul', {class: 'diff', translate: 'no'}, found.map(({path, before: old, after: now}) => el('li', {class: path.startsWith('metadata.') ? 'minor' : ''},
      el('code', {}, path),
      old !== undefined && el('del', {}, brief(old)),
      now !== undefined && el('ins', {}, brief(now)),
    ))));
}

const sum = (world, id, ...whats) => whats.reduce((n, what) => n + (world.parts[id].whats[what] ?? 0), 0);

// Numbers of a part other than its counts: pairs of a name and a value.
const numbers = {
  stream: ({open}) => [['Watches open', open.size ? [...open].join(', ') : 'none seen']],
  store: ({kinds}) => Object.entries(kinds).map(([kind, n]) => [`${kind}s seen`, count(n)]),
  queue: ({depths}) => Object.entries(depths).map(([kind, n]) => [`${kind} keys waiting`, count(n)]),
  worker: ({busy}) => [['Busy', count(busy.size)]],
  request: ({statuses}) => Object.entries(statuses).map(([status, n]) => [Number(status) ? statusText(status) : status, count(n)]),
};

function numbersOf(id, world, now) {
  const {total, whats} = world.parts[id];
  return [
    ['Steps', count(total)],
    ['Per second', rateOf(world.parts[id], now).toFixed(1)],
    ...(numbers[id]?.(world) ?? []),
    // These two repeat the steps of other parts.
    ...(id === 'server' || id === 'handler' ? [] : Object.entries(whats).map(([what, n]) => [what, count(n)])),
  ];
}

// The current state of each part, in one line.
const lines = {
  server: (world) => `${counted(sum(world, 'stream', 'received'), 'event')} out, ${counted(sum(world, 'request', 'sent'), 'request')} in`,
  stream: (world, now) => (world.open.size ? `${counted(world.open.size, 'watch', 'es')} open` : `${rateOf(world.parts.stream, now).toFixed(1)} events a second`),
  store: ({kinds}) => counted(Object.values(kinds).reduce((n, k) => n + k, 0), 'object'),
  handler: (world) => `${counted(sum(world, 'queue', 'added', 'coalesced'), 'key')} enqueued`,
  queue: ({depth, later}) => `${count(depth)} waiting${later.size ? `, ${count(later.size)} later` : ''}`,
  worker: ({busy}) => (busy.size ? `${count(busy.size)} busy` : 'all idle'),
  reconcile: (world) => `${count(sum(world, 'reconcile', 'started'))} so far, ${count(sum(world, 'reconcile', 'failed'))} failed`,
  request: (world) => `${count(sum(world, 'request', 'sent'))} sent${world.statuses[409] ? `, ${counted(world.statuses[409], 'conflict')}` : ''}`,
};

/** The line of a part. */
export const lineOf = (id, world, now) => (isInside(id) ? 'inside, not seen' : lines[id](world, now));
