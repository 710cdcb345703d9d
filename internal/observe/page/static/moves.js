// A step as the picture shows it: as moves from part to part, and in words.

import {clock, el} from './dom.js';
import {objectOf, statusText} from './history.js';
import {lookOf} from './kinds.js';
import {isInside, partName} from './parts.js';

const headlines = {
  'stream received': 'An event comes down the watch',
  'stream opened': 'A watch is open',
  'stream listed': 'A list has come',
  'stream ended': 'A watch has ended',
  'stream refused': 'The server refuses a watch',
  'store added': 'New in memory',
  'store updated': 'Newer in memory',
  'store resync': 'The same again, to be looked at',
  'store relisted': 'The same again, in a new list',
  'queue added': 'Its key joins the queue',
  'queue coalesced': 'Its key waits already: two become one',
  'queue delayed': 'Look again, later',
  'queue limited': 'Try again, later',
  'queue due': 'The delay is over',
  'queue forgot': 'Its failures no longer count',
  'worker got': 'A worker takes the key',
  'worker done': 'The worker gives the key back',
  'reconcile started': 'The reconcile begins',
  'reconcile ended': 'The reconcile has ended',
};

function headlineOf(step) {
  const {part, what, request, meaning} = step;
  if (meaning) {
    return part === 'store' ? `${step.kind} ${meaning.text}` : meaning.text;
  }
  if (part === 'request' && request) {
    return what === 'sent' ? `${request.method} ${step.kind ?? request.path}` : statusText(request.status);
  }
  return headlines[`${part} ${what}`] ?? what;
}

/** What the step is, in words that teach: a list of elements. */
export function captionOf(step) {
  return [
    el('span', {class: 'caption-where'}, [clock(step.at), partName(step.part), objectOf(step)].filter(Boolean).join(' · ')),
    el('strong', {}, headlineOf(step)),
    step.text && el('span', {}, step.text),
    step.echo ? el('span', {class: 'caption-cause'}, 'the echo of its own write')
      : step.cause && el('span', {class: 'caption-cause'}, `because: ${step.cause}`),
  ].filter(Boolean);
}

// The ways that a step goes, by its part, or by its part and what it is. A way that has no beginning
// is none: the step is seen where it happens.
const ways = {
  'stream received': ['server-stream'],
  store: ['stream-store', 'store-handler'],
  'queue added': ['handler-queue'],
  'queue coalesced': ['handler-queue'],
  'queue delayed': ['worker-queue'],
  'queue limited': ['worker-queue'],
  'queue due': ['-queue'],
  'worker got': ['queue-worker'],
  'reconcile started': ['worker-reconcile'],
  reconcile: ['-reconcile'],
  'request sent': ['reconcile-request', 'request-server'],
  request: ['server-request', 'request-reconcile'],
  server: ['outside-server'], // another client's write
};

// What a key says on its way.
const notes = {
  'queue coalesced': {tone: 'merged', note: 'waits already'},
  'queue delayed': {note: 'later'},
  'queue limited': {note: 'later: an error'},
  'queue due': {note: 'it is time'},
};

/** The moves that show a step: from where to where, in which form. */
export function movesOf(step) {
  const {subject, part, what} = step;
  const taken = subject ? ways[`${part} ${what}`] ?? ways[part] ?? [] : [];
  const look = formOf(step);
  return taken.map((way) => way.split('-')).filter((ends) => !ends.some(isInside)).map(([from, to]) => ({...look, from, to}));
}

// What travels: an object, a key, a request or its answer.
function formOf({part, what, kind, meaning, request}) {
  const look = {...lookOf(kind), tone: meaning?.tone ?? '', note: meaning?.text ?? ''};
  if (part === 'stream' || part === 'store') {
    return {...look, form: 'object', gone: meaning?.text === 'deleted'};
  }
  if (part !== 'request' && part !== 'server') {
    return {...look, form: 'key', letter: 'key', ...notes[`${part} ${what}`]};
  }
  const {method, status} = request ?? {};
  const wire = {...look, form: 'wire'};
  if (part === 'server' || what === 'sent') {
    return {...wire, letter: method ?? ''};
  }
  return {...wire, letter: status ? String(status) : '—', note: status >= 400 ? statusText(status) : '', tone: status && status < 400 ? 'good' : 'bad'};
}
