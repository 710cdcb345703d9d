// The presentation of a step in the picture: moves from part to part, and words.

import {clock, el, took as duration} from './dom.js';
import {objectOf, statusText} from './history.js';
import {lookOf} from './kinds.js';
import {isInside, partName} from './parts.js';

const headlines = {
  'stream received': 'An event arrives',
  'stream opened': 'A watch is open',
  'stream listed': 'A list has arrived',
  'stream ended': 'A watch has ended',
  'stream refused': 'The API server refuses a watch',
  'store added': 'New in the store',
  'store updated': 'Updated in the store',
  'store resync': 'The same again: resync',
  'store relisted': 'The same again, in a new list',
  'queue added': 'The key joins the queue',
  'queue coalesced': 'Already queued: two events, one reconcile',
  'queue due': 'The key is back in the queue',
  'queue forgot': 'Its failures no longer count',
  'worker got': 'A worker takes the key',
  'worker done': 'The worker gives the key back',
  'reconcile started': 'The reconcile begins',
  'reconcile ended': 'The reconcile has ended',
  'program leader': 'This process leads from now on',
  'reconcile failed': 'The reconcile has failed',
  'handler ignored': 'The handler ignores it: no key',
};

const nameOf = ({kind, key}) => `${kind} ${key.split('/').at(-1)}`;

// A request: method and object. A response: the same, and the result.
function requestHeadline({what, kind, key, request, meaning, change}) {
  const {method, path = '', status, reply} = request;
  const ofStatus = path.endsWith('/status');
  const asked = `${method} ${ofStatus ? 'status of ' : ''}${key ? nameOf({kind, key}) : path}`;
  if (what === 'sent') {
    return asked;
  }
  const done = method === 'GET' ? statusText(status) : ofStatus ? /"reason":"(\w+)"/.exec(reply)?.[1] : change;
  return `${asked}: ${meaning?.text ?? done ?? statusText(status)}`;
}

/** The step in a few words. */
export function headlineOf(step) {
  const {part, what, kind, key, request, meaning, text, took} = step;
  switch (true) {
    case part === 'request' && Boolean(request):
      return requestHeadline(step);
    case part === 'server' && Boolean(request):
      return `${request.method} ${nameOf(step)} by ${text}${request.status >= 300 ? `: ${statusText(request.status)}` : ''}`;
    case part === 'store' && Boolean(meaning):
      return `${nameOf(step)}: ${meaning.text}`;
    case part === 'queue' && what === 'limited':
      return `Retry in ${duration(took / 1e6)}`;
    case part === 'queue' && what === 'delayed':
      return `Look again in ${duration(took / 1e6)}`;
    case part === 'stream' && /^ERROR too old/.test(text):
      return '410 Gone: these events are no longer kept';
    case part === 'stream' && what === 'opened' && /list/.test(text):
      return 'List everything, then watch';
  }
  return headlines[`${part} ${what}`] ?? [what, kind && key && nameOf(step)].filter(Boolean).join(': ');
}

/** The step in words that teach: a list of elements. */
export function captionOf(step) {
  const headline = headlineOf(step);
  // Skip text that repeats the headline, such as OK, and details, which the tables have.
  const said = ['server', 'store', 'worker'].includes(step.part) || step.what === 'opened' || step.part === 'queue' && step.took || step.part === 'request' && (step.what === 'sent' || step.request?.status < 400);
  return [
    el('span', {class: 'caption-where'}, [clock(step.at), partName(step.part), objectOf(step)].filter(Boolean).join(' · ')),
    el('strong', {}, headline.replaceAll(' → ', '\u00a0→\u00a0')),
    step.text && !said && el('span', {}, step.text),
    step.echo ? el('span', {class: 'caption-cause'}, 'its own write, coming back')
      : step.cause && el('span', {class: 'caption-cause'}, `because: ${step.cause.replace(/(\S+ \S+) tombstone/g, 'the list no longer has $1')}`),
  ].filter(Boolean);
}

// The ways of a step, by its part, or by part and event. A way without a start is shown in place.
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

/** The moves that show a step: from where to where, in which form. With step.whole set, a store step
 * also shows the event that led to it. */
export function movesOf(step) {
  const {subject, part, what} = step;
  const taken = step.whole ? ['server-stream', ...ways.store] : subject ? ways[`${part} ${what}`] ?? ways[part] ?? [] : [];
  const look = formOf(step);
  return taken.map((way) => way.split('-')).filter((ends) => !ends.some(isInside)).map(([from, to]) => ({...look, from, to}));
}

// The form of a token: an object, a key, a request or its response.
function formOf({part, what, kind, meaning, request}) {
  const look = {...lookOf(kind), tone: meaning?.tone ?? ''};
  if (part === 'stream' || part === 'store') {
    return {...look, form: 'object', gone: meaning?.text === 'deleted'};
  }
  if (part !== 'request' && part !== 'server') {
    return {...look, form: 'key', letter: 'key', tone: what === 'coalesced' ? 'merged' : look.tone};
  }
  const {method, status} = request ?? {};
  const wire = {...look, form: 'wire'};
  if (part === 'server' || what === 'sent') {
    return {...wire, letter: method ?? ''};
  }
  return {...wire, letter: status ? String(status) : '—', tone: status && status < 400 ? 'good' : 'bad'};
}
