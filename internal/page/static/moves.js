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
  'store deleted': 'Gone from memory',
  'store tombstone': 'Gone, at a time that no watch saw',
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
  'reconcile failed': 'It did not work',
  'request failed': 'No answer',
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

/** The moves that show a step: from where to where, in which form. */
export const movesOf = (step) => allMoves(step).filter(({from, to}) => !isInside(from) && !isInside(to));

function allMoves(step) {
  if (!step.subject) {
    return [];
  }
  const {what, meaning} = step;
  const look = {...lookOf(step.kind), tone: meaning?.tone ?? '', note: meaning?.text ?? ''};
  const key = {...look, form: 'key', letter: 'key'};
  const wire = {...look, form: 'wire', letter: step.request?.method ?? '', write: step.request?.method !== 'GET'};
  switch (step.part) {
    case 'stream':
      return what === 'received' ? [{...look, form: 'object', from: 'server', to: 'stream'}] : [];
    case 'store': {
      const object = {...look, form: 'object', gone: meaning?.word === 'deleted'};
      return [{...object, from: 'stream', to: 'store'}, {...object, from: 'store', to: 'handler'}];
    }
    case 'queue':
      return queueMoves(what, key);
    case 'worker':
      return what === 'got' ? [{...key, from: 'queue', to: 'worker'}] : [];
    case 'reconcile':
      return [{...key, from: what === 'started' ? 'worker' : '', to: 'reconcile'}];
    case 'request':
      return requestMoves(step, wire);
    case 'server': // another client's write
      return [{...wire, from: 'outside', to: 'server'}];
  }
  return [];
}

function queueMoves(what, key) {
  switch (what) {
    case 'added':
      return [{...key, from: 'handler', to: 'queue'}];
    case 'coalesced':
      return [{...key, from: 'handler', to: 'queue', tone: 'merged', note: 'waits already'}];
    case 'delayed':
    case 'limited':
      return [{...key, from: 'worker', to: 'queue', note: what === 'limited' ? 'later: an error' : 'later'}];
    case 'due':
      return [{...key, from: '', to: 'queue', note: 'it is time'}];
  }
  return [];
}

function requestMoves({what, request}, wire) {
  if (what === 'sent') {
    return [{...wire, from: 'reconcile', to: 'request'}, {...wire, from: 'request', to: 'server'}];
  }
  const status = request?.status;
  const reply = {...wire, form: 'wire', letter: status ? String(status) : '—', note: status >= 400 ? statusText(status) : '', tone: status && status < 400 ? 'good' : 'bad'};
  return [{...reply, from: 'server', to: 'request'}, {...reply, from: 'request', to: 'reconcile'}];
}
