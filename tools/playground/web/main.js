// The first page of the site: a cluster, and the actions of the visitor.

import {feed, picture, player} from '../../../internal/observe/page/static/main.js';
import {byId, counted, el, say} from '../../../internal/observe/page/static/dom.js';
import {files} from '../../../internal/observe/page/static/panel.js';
import {ask, on} from './cluster.js';
import * as film from './film.js';
import * as objects from './objects.js';
import * as tour from './tour.js';

// --- the places ---

byId('time').append(document.querySelector('.controls'), byId('objects'));
byId('visit').append(byId('panel'));

// A link opens a new tab, so the cluster in this one continues.
document.querySelector('main').addEventListener('click', ({target}) => target.closest('a:not([href^="#"])')?.setAttribute('target', '_blank'));

// A file in the panel is a link if this site shows it.
const {named} = files;
files.named = (file, name) => (readingPath.includes(file) ? el('a', {href: `read/${file}.html${name ? `#${name}` : ''}`}, named(file)) : named(file));

// --- actions ---

const mostLines = 100;
const guessCosts = 3; // else naming one bug after the other would need the fewest moves
const bugs = [...document.querySelectorAll('#wrong [data-send]')]; // The first is the correct controller.
const switches = [...document.querySelectorAll('.luck [type=checkbox]')];
let riddle = null; // of the puzzle: {n, bug, moves}

function moved(n) {
  if (riddle) {
    riddle.moves += n;
    say(byId('moves'), String(riddle.moves));
    say(byId('wrong-guess'), '');
  }
}

// Shows the description of a bug.
function about(name) {
  [...byId('truth').children].forEach((truth) => { truth.hidden = truth.dataset.bug !== name; });
}

function guess(name) {
  if (name !== riddle.bug) {
    moved(guessCosts);
    say(byId('wrong-guess'), `It is not ${name}: ${guessCosts} moves.`);
    return;
  }
  moved(1);
  say(byId('solved'), `Found ${name} in ${counted(riddle.moves, 'move')}.`);
  about(name);
  byId('challenge').href = `#puzzle=${riddle.n}&moves=${riddle.moves}`;
  history.replaceState(null, '', byId('challenge').href);
  byId('break').hidePopover();
  riddle = null;
  tour.solved();
}

// Performs an action of the visitor.
async function act(commands) {
  moved(1);
  tour.before();
  objects.begin();
  for (const command of commands) {
    await ask(command);
  }
}

document.querySelector('.play').addEventListener('click', ({target}) => {
  const {send, do: name} = target.closest('[data-send]')?.dataset ?? {};
  if (!send || ![...send.matchAll(/{(.*?)}/g)].every(([, id]) => byId(id).reportValidity())) {
    return;
  }
  if (riddle && send.startsWith('bug ')) {
    guess(name);
  } else {
    act([send.replaceAll(/{(.*?)}/g, (_, id) => byId(id).value) + (target.type !== 'checkbox' ? '' : target.checked ? ' on' : ' off')]);
  }
});

// --- results ---

// The newest line is on top: nothing must be scrolled.
function line(tone, ...text) {
  byId('log').prepend(el('li', {class: tone}, ...text));
  byId('log').children[mostLines]?.remove();
}

on('said', (text) => {
  const {command, kubectl, answer, refused} = JSON.parse(text);
  const box = switches.find(({dataset}) => command.startsWith(`${dataset.send} `));
  const words = box ? `${box.value}: ${command.split(' ')[1]}` : answer;
  const secret = riddle && command.startsWith('bug ');
  if (kubectl) {
    line('asked', el('span', {translate: 'no'}, `$ ${kubectl}`));
  }
  line(refused ? 'refused' : 'answered', secret ? 'A bug is hidden.' : words);
  if ((refused || !kubectl) && !secret) {
    objects.means(words);
  }
  if (command === 'reset') {
    objects.forget();
  }
  tour.did(command, refused);
});

// Shows a write after the picture has.
function wrote(step) {
  tour.moves();
  objects.wrote(step);
}

player.on.reached = (step) => {
  if (step.part === 'server') {
    wrote(step);
  }
  film.reached(step);
};

// A write that no process has recorded.
on('write', (text) => {
  const step = JSON.parse(text);
  step.at = Date.parse(step.time);
  step.subject = `${step.kind} ${step.key}`;
  feed.after(() => film.show(step));
  feed.after(() => wrote(step));
});

on('hello', () => feed.after(film.restart));

let state = {on: {}, replicas: [], lease: 0, held: 0};
on('state', (text) => {
  state = JSON.parse(text);
  const newest = state;
  feed.after(() => objects.now(newest));
  tour.moves();
  switches.forEach((box) => { box.checked = Boolean(state.on[box.dataset.send]); });
  bugs.forEach((bug) => { bug.ariaPressed = !riddle && bug.dataset.do === state.bug; });
  // Each active fault is a button that turns it off.
  byId('on').replaceChildren(...switches.filter((box) => box.checked).map((box) => [box.value, `${box.dataset.send} off`])
    .concat(state.bug === 'none' || riddle ? [] : [[`bug ${state.bug}`, 'bug none']])
    .map(([name, back]) => el('li', {}, el('button', {type: 'button', 'data-send': back}, `${name} ✕`))));
  say(byId('replicas-now'), state.replicas.join(', ') || '–');
  wait();
});

// Shows delayed events and the missing leader.
function wait() {
  const left = Math.ceil((state.lease - Date.now()) / 1000);
  picture.why = state.lease ? `No leader: the Lease ${left > 0 ? `expires in ${left} s` : 'has expired'}` : awake && state.replicas.length === 0 ? 'No controller runs' : '';
  say(byId('waits'), [state.held > 0 && `${counted(state.held, 'event')} delayed`, picture.why].filter(Boolean).join(' · '));
}
setInterval(wait, 500);

// A screen reader gets the result once nothing more happens, and no countdown.
byId('summary').hidden = true;
let heard = '';
setInterval(() => {
  const told = [...document.querySelectorAll('#last, .objects .note:not([hidden]), #waits')]
    .map((place) => (place.matches('tr') ? `${place.previousElementSibling.cells[0].textContent}: ` : '') + place.textContent.replace(/ ?\d+ s$/, ''));
  const text = told.filter(Boolean).join('. ');
  if (text === heard && !picture.showing) {
    say(byId('heard'), text);
  }
  heard = text;
}, 700);

// --- the link ---

// A link names a lesson, the puzzle, or a bug and faults. It contains no command.
function follow() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const bug = bugs.slice(1).find(({dataset}) => dataset.do === wanted.get('bug'));
  const luck = wanted.get('luck')?.split(',') ?? [];
  riddle = null;
  about(bug?.dataset.do);
  if (wanted.has('puzzle')) {
    // The number does not reveal the bug.
    const n = Math.abs(Number.parseInt(wanted.get('puzzle'), 10)) || Math.ceil(Math.random() * 999);
    riddle = {n, bug: bugs[1 + n % (bugs.length - 1)].dataset.do, moves: 0};
    moved(0);
    say(byId('beat'), wanted.get('moves') > 0 ? `It was found in ${counted(Number(wanted.get('moves')), 'move')}.` : '');
    // The bug shows only after an action, so the cluster begins in order.
    tour.begin(tour.puzzle, ['create example-foo web 2', 'create shop bar 1', 'wait', `bug ${riddle.bug}`, 'wait']);
  } else if (bug || luck.length > 0) {
    tour.begin(0, ['create example-foo web 2', ...(bug ? [`bug ${bug.dataset.do}`] : []),
      ...switches.filter(({value}) => luck.includes(value.toLowerCase().replaceAll(' ', '-'))).map(({dataset}) => `${dataset.send} on`),
      ...(bug?.dataset.fault.split('; ') ?? [])].flatMap((command) => [command, 'wait']));
  } else {
    tour.begin(lessonOf(wanted));
  }
}

const lessonOf = (wanted) => (/^([1-9]|10)$/.test(wanted.get('lesson')) ? Number(wanted.get('lesson')) : 1);

// --- the program ---

const progress = byId('loading').querySelector('progress');
on('progress', (part) => { progress.value = part; });
on('failed', (text) => {
  if (progress.isConnected) { // The first failure explains the others.
    say(byId('loading'), `The controller cannot run here: ${JSON.parse(text)}.`);
  }
  byId('visit').disabled = true;
});

let awake = false;
on('hello', () => {
  if (!awake) {
    awake = true;
    byId('loading').hidden = true;
    byId('visit').disabled = false;
    objects.forget();
    follow();
  }
});
// A link to an element of the page starts no lesson.
addEventListener('hashchange', () => awake && !byId(location.hash.slice(1)) && follow());

tour.start({act, again: follow});
// The text can be read while the program loads.
tour.open(lessonOf(new URLSearchParams(location.hash.slice(1))));
