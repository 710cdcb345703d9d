// What stands beside the picture: a part and its numbers, or an object and its
// history.

import {clock, count, counted, el, since, took} from './dom.js';
import {brief, difference} from './diff.js';
import {split, statusText} from './history.js';
import {chip, kindsSeen} from './kinds.js';
import {isInside, partById, partName, view} from './parts.js';

// As many steps of a history as are shown, the newest.
const mostShown = 300;
// What the project's own recording is of, and what one can do live.
const ownRecording = 'recording.json';
const commands = `kubectl apply -f config/samples
kubectl scale foo example-foo --replicas=3
kubectl delete deployment example-foo
kubectl scale deployment example-foo \\
  --replicas=7
kubectl patch foo example-foo --type=merge \\
  -p '{"spec":{"deploymentName":"renamed"}}'
kubectl delete foo example-foo
kubectl patch project example-project \\
  --type=merge -p '{"spec":{"replicas":2}}'`;

export class Panel {
  /** on: {object(subject), seek(n), close(), attempt(step, show)} */
  constructor(root, history, on) {
    this.root = root;
    this.history = history;
    this.on = on;
    this.hello = null;
    this.welcome();
  }

  /** Takes what the feed says of itself: whether this is live, and how to reach the cluster. */
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
        el('li', {}, el('span', {class: 'chip round'}, 'key'), ' a key: a namespace and a name, no more, in the colour of its kind'),
        el('li', {}, el('span', {class: 'chip square tone-plain'}, 'PUT'), ' a request, ', el('span', {class: 'chip square tone-good'}, '200'), ' its answer'),
      ),
      el('p', {}, 'Choose a part in the picture to read what it is and where its code stands, or an object in the table to follow it alone.'),
      ...this.whatHappens(),
    );
  }

  // Of another recording it is not known what was done.
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
    this.places = el('ul', {class: 'places', translate: 'no'});
    this.recent = el('ul', {class: 'recent'});
    this.root.replaceChildren(
      el('div', {class: 'panel-head'}, el('h2', {}, part.name), this.close()),
      ...(isInside(id) ? [el('p', {}, 'This is inside the program: not seen from here. In general:')] : []),
      ...part.about.map((text) => el('p', {}, text)),
      el('h3', {}, 'Where its code stands'), this.places,
      el('h3', {}, 'Numbers'), this.numbers,
      el('h3', {}, 'The last step here'), this.recent,
    );
    this.shownNumbers = this.shownPlaces = '';
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
    this.shown = {from: 0, to: -1};
  }

  /** Shows the newest numbers or steps: called a few times a second. */
  update(world, position, now) {
    if (this.shows?.part) {
      this.updatePart(world, now);
    } else if (this.shows?.subject) {
      this.updateObject(position);
    } else if (this.kinds.children.length < kindsSeen().length) {
      this.kinds.replaceChildren(...kindsSeen().flatMap((kind) => [chip(kind), `\u00a0${kind} `]));
    }
  }

  updatePart(world, now) {
    const id = this.shows.part;
    const numbers = numbersOf(id, world, now);
    if (this.shownNumbers !== JSON.stringify(numbers)) {
      this.shownNumbers = JSON.stringify(numbers);
      this.numbers.replaceChildren(...numbers.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
    }
    const {last, places: seen} = world.parts[id];
    // The server's steps are those of other parts.
    const places = new Map([...partById[id].where.map((place) => [place.join(' '), place]), ...(id === 'server' ? [] : seen)]);
    const shown = JSON.stringify([...places.keys(), last?.n]);
    if (this.shownPlaces !== shown) {
      this.shownPlaces = shown;
      this.places.replaceChildren(...[...places.values()].map(([file, name]) => el('li', {}, el('code', {}, file), name && el('span', {}, ` ${name}`))));
      this.recent.replaceChildren(last ? el('li', {}, el('time', {}, clock(last.at)), ' ', last.text || last.what) : el('li', {}, 'none yet'));
    }
  }

  // The history grows at its end; anything else is drawn anew.
  updateObject(position) {
    const steps = this.history.of(this.shows.subject, position);
    const from = Math.max(0, steps.length - mostShown);
    const first = steps[from]?.n ?? -1;
    const last = steps.at(-1)?.n ?? -1;
    if (first === this.shown.first && last === this.shown.last) {
      return;
    }
    const atEnd = this.root.scrollTop + this.root.clientHeight >= this.root.scrollHeight - 40;
    const grows = first === this.shown.first && last > this.shown.last;
    let index = grows ? steps.findIndex((step) => step.n > this.shown.last) : from;
    if (!grows) {
      this.list.replaceChildren();
    }
    for (; index < steps.length; index++) {
      const [before, step] = [steps[index - 1], steps[index]];
      this.on.attempt(step, () => this.list.append(this.item(step, before)));
    }
    this.shown = {first, last};
    this.count.textContent = steps.length > mostShown ? `The last ${mostShown} of ${counted(steps.length, 'step')}.` : `${counted(steps.length, 'step')}.`;
    if (atEnd || !grows) {
      this.root.scrollTop = this.root.scrollHeight;
    }
  }

  item(step, before) {
    const {meaning} = step;
    return el('li', {class: `entry at-${step.part}`, 'data-seq': step.seq},
      el('div', {class: 'entry-head'},
        el('button', {type: 'button', class: 'time', title: 'Go to this moment', onclick: () => this.on.seek(step.n + 1)}, clock(step.at)),
        el('span', {class: 'delta'}, before ? since(step.at - before.at) : ''),
        el('span', {class: 'entry-part'}, `${partName(step.part)}: ${step.what}`),
        meaning && el('span', {class: `badge tone-${meaning.tone}`}, meaning.text),
        step.echo && el('span', {class: 'badge tone-plain'}, 'echo of its own write'),
      ),
      step.text && el('p', {class: 'entry-text'}, step.text),
      step.cause && el('p', {class: 'cause'}, 'because: ', this.causeOf(step)),
      step.request && wireForm(step),
      step.object && changes(step),
      (step.file || step.took) && el('p', {class: 'place', translate: 'no'}, step.took ? `${took(step.took)}  ` : '', step.file && el('code', {}, step.file), step.func ? ` ${step.func}` : ''),
    );
  }

  causeOf(step) {
    const n = step.causeSeq ? this.history.find(step.causeSeq) : -1;
    return n < 0 ? step.cause : el('button', {type: 'button', class: 'link', title: 'Go to that moment', onclick: () => this.on.seek(n + 1)}, step.cause);
  }
}

// A request as it goes over the wire, or its answer.
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

// What changed since the object was seen last.
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

/** The numbers of a part: pairs of a name and a value. */
export function numbersOf(id, world, now) {
  const part = world.parts[id];
  const numbers = [['Steps', count(part.total)], ['Per second', part.rate(now).toFixed(1)]];
  switch (id) {
    case 'stream':
      numbers.push(['Watches open', world.open.size ? [...world.open].join(', ') : 'none seen']);
      break;
    case 'store':
      numbers.push(...Object.entries(world.kinds).map(([kind, n]) => [`${kind}s seen`, count(n)]));
      break;
    case 'queue':
      numbers.push(...Object.entries(world.depths).map(([kind, n]) => [`${kind} keys that wait`, count(n)]));
      break;
    case 'worker':
      numbers.push(['Busy', count(world.busy.size)]);
      break;
    case 'reconcile':
      if (world.reconciles.n) {
        numbers.push(['Mean duration', took(world.reconciles.took / world.reconciles.n)]);
      }
      break;
    case 'request':
      numbers.push(...Object.entries(world.statuses).map(([status, n]) => [Number(status) ? statusText(Number(status)) : status, count(n)]));
      break;
  }
  if (id !== 'server' && id !== 'handler') {
    numbers.push(...Object.entries(part.whats).map(([what, n]) => [what, count(n)]));
  }
  return numbers;
}

// The keys that wait beside the queue, and for how long the first of them does.
function laterOf(world, now) {
  const left = [...world.later.values()].map((due) => due - now).filter((ms) => ms > 500);
  return left.length > 0 ? `, ${count(left.length)} in ${Math.ceil(Math.min(...left) / 1000)} s` : '';
}

/** One line for a part: what is now. */
export function lineOf(id, world, now) {
  if (isInside(id)) {
    return 'inside, not seen';
  }
  const rate = world.parts[id].rate(now);
  switch (id) {
    case 'server':
      return `${counted(sum(world, 'stream', 'received'), 'event')} out, ${counted(sum(world, 'request', 'sent'), 'request')} in`;
    case 'stream':
      return world.open.size ? counted(world.open.size, 'watch').replace('watchs', 'watches') + ' open' : `${rate.toFixed(1)} events a second`;
    case 'store': {
      const total = Object.values(world.kinds).reduce((n, k) => n + k, 0);
      return counted(total, 'object');
    }
    case 'handler':
      return `${counted(sum(world, 'queue', 'added', 'coalesced'), 'key')} handed on`;
    case 'queue':
      return `${counted(world.depth, 'key')} ${world.depth === 1 ? 'waits' : 'wait'}${laterOf(world, now)}`;
    case 'worker':
      return world.busy.size ? `${count(world.busy.size)} busy` : 'all idle';
    case 'reconcile':
      return `${count(sum(world, 'reconcile', 'started'))} so far, ${count(sum(world, 'reconcile', 'failed'))} failed`;
    case 'request': {
      const conflicts = world.statuses[409] ?? 0;
      return `${count(sum(world, 'request', 'sent'))} sent${conflicts ? `, ${counted(conflicts, 'conflict')}` : ''}`;
    }
  }
  return '';
}
