// The page of the site with a cluster behind it, and what the visitor can do to that.

import {picture} from '../../internal/page/static/main.js';
import {byId, counted, el, say} from '../../internal/page/static/dom.js';
import {on, send, start} from './cluster.js';
import * as objects from './objects.js';
import * as tour from './tour.js';
import {open as speak} from './words.js';

// --- the places ---

byId('time').append(document.querySelector('.controls'), byId('objects'));
byId('visit').append(byId('panel'));
picture.latest = 3000;
picture.fastest = 260;
const small = matchMedia('(max-width: 760px)');
const lay = () => small.matches && picture.lay('small');
small.addEventListener('change', lay);
lay();

// One drawer at a time lies over the lesson, and gives the focus back.
let opener = null;
function open(id) {
  document.querySelectorAll('.drawer').forEach((drawer) => { drawer.hidden = drawer.id !== id; });
  if (id) {
    opener = document.activeElement;
    byId(id).focus({preventScroll: true});
  } else {
    opener?.focus({preventScroll: true});
  }
}
addEventListener('keydown', ({key}) => key === 'Escape' && document.querySelector('.drawer:not([hidden])') && open(null));

// What a visitor reads elsewhere must not end what goes on here.
document.querySelector('main').addEventListener('click', ({target}) => target.closest('a:not(#link, #challenge)')?.setAttribute('target', '_blank'));

// Where the panel names a file that this site shows, that is a link to it.
new MutationObserver(() => {
  for (const code of byId('panel').querySelectorAll('.places code, .place code')) {
    const [file, name] = [code.textContent, code.nextSibling?.textContent.trim()];
    if (readingPath.includes(file) && !code.closest('a')) {
      code.replaceWith(el('a', {href: `read/${file}.html${name ? `#${name}` : ''}`}, code.cloneNode(true)));
    }
  }
}).observe(byId('panel'), {subtree: true, childList: true});

// --- a state as a link ---

const mostCommands = 40;
const mostCharacters = 1500;
// What was done since everything began anew; the same again leads to the same table.
let done = [];
// Another link in the same tab begins anew.
addEventListener('hashchange', () => location.reload());

// What the link says: a lesson, a puzzle, a bug and bad luck, or else commands.
const wanted = new URLSearchParams(location.hash.slice(1));
const bugs = [...document.querySelectorAll('#wrong [data-fault]')].slice(1); // The first is none.
const switches = [...document.querySelectorAll('.luck [type=checkbox]')];

// The commands of the link. The program takes none that is not in its own list.
function linked() {
  const bug = bugs.find(({dataset}) => dataset.do === wanted.get('bug'));
  const luck = (wanted.get('luck') ?? '').split(',');
  if (bug || wanted.has('luck')) {
    if (bug) {
      say(byId('told'), `This controller has the bug ${bug.dataset.do}: ${bug.parentElement.querySelector('p').textContent}`);
    }
    return ['create example-foo web 2', ...(bug ? [`bug ${bug.dataset.do}`] : []),
      ...switches.filter(({value}) => luck.includes(value.toLowerCase().replaceAll(' ', '-'))).map(({dataset}) => `${dataset.do} on`),
      ...(bug?.dataset.fault.split('; ') ?? [])];
  }
  const text = location.hash.slice(1);
  return !text || text.length > mostCharacters || !/^[-\w.:/+;]+$/.test(text) ? []
    : text.split(';').slice(0, mostCommands).map((command) => command.replaceAll('+', ' '));
}

// Writes what was done into the link, and into the address if that is no lesson's.
function link() {
  const text = done.map((words) => words.replaceAll(' ', '+')).join(';');
  const fits = done.length <= mostCommands && text.length <= mostCharacters;
  byId('link').hidden = !fits;
  byId('long').hidden = fits;
  byId('link').href = `#${text}`;
  if (free) {
    history.replaceState(null, '', fits ? `#${text}` : location.pathname + location.search);
  }
}

// --- what is done ---

const unanswered = [];
/** Sends a command: a promise of what was said to it. */
function ask(command) {
  send(command);
  return new Promise((said) => { unanswered.push({command, said}); });
}

// --- the puzzle ---

let riddle = null; // {n, bug, moves}

// Hides a bug in the controller: that of a number, so that a link does not name it.
async function hide(n = Math.ceil(Math.random() * 999), beaten = 0) {
  say(byId('beat'), beaten > 0 ? `It was found in ${counted(beaten, 'move')}.` : '');
  free = false;
  history.replaceState(null, '', '#puzzle');
  riddle = null;
  open(null);
  await ask('reset');
  riddle = {n, bug: bugs[Math.abs(n) % bugs.length].dataset.do, moves: 0};
  moved(0);
  tour.begin(tour.puzzle);
  for (const command of ['create example-foo web 2', 'create cafe bar 1', `bug ${riddle.bug}`]) {
    await ask(command);
  }
}

function moved(n) {
  riddle.moves += n;
  say(byId('moves'), String(riddle.moves));
  say(byId('wrong-guess'), '');
}

function guess(name) {
  moved(1);
  if (name !== riddle.bug) {
    say(byId('wrong-guess'), `It is not ${name}.`);
    return;
  }
  say(byId('solved'), `Found ${name} in ${counted(riddle.moves, 'move')}.`);
  [...byId('truth').children].forEach((truth) => { truth.hidden = truth.dataset.bug !== name; });
  byId('challenge').href = `#puzzle=${riddle.n}&moves=${riddle.moves}`;
  history.replaceState(null, '', byId('challenge').href);
  open(null);
  tour.solved();
  riddle = null;
}

// An action of the visitor: what is still drawn of the one before goes.
async function act(commands) {
  if (riddle) {
    moved(1);
  }
  picture.clear();
  objects.begin();
  tour.before();
  for (const command of commands) {
    await ask(command);
  }
}

let changed = 0; // when anything did last
const quiet = 1000;
const longest = 8000;
let hurried = false;
/** A promise that nothing happens any more. */
async function settled() {
  const since = Date.now();
  do {
    await new Promise((passed) => { setTimeout(passed, 100); });
  } while (!hurried && Date.now() - Math.max(changed, since) < quiet && Date.now() - since < longest);
}

// What a field holds, as a word of a command: see encoded in internal/playground.
const held = ({id, value}) => (id !== 'yaml' ? value
  : btoa(String.fromCodePoint(...new TextEncoder().encode(value))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''));

document.querySelector('.play').addEventListener('click', ({target}) => {
  const button = target.closest('button') ?? target;
  if (button.dataset.open || 'close' in button.dataset) {
    open(button.dataset.open ?? null);
  }
  const command = button.dataset.send ?? '';
  const fields = [...command.matchAll(/{(.*?)}/g)].map(([, id]) => byId(id));
  if (command && fields.every((field) => field.checkValidity() || field.reportValidity())) {
    if (riddle && command.startsWith('bug ')) {
      guess(button.dataset.do);
    } else {
      act([command.replaceAll(/{(.*?)}/g, (_, id) => held(byId(id)))]);
    }
  }
});
byId('visit').addEventListener('change', ({target: {checked, dataset}}) => {
  if (dataset.do) {
    act([`${dataset.do} ${checked ? 'on' : 'off'}`]);
  }
});

// --- what comes of it ---

const mostLines = 100;
function line(tone, ...text) {
  const log = byId('log');
  log.prepend(el('li', {class: tone}, ...text)); // It is drawn from below: nothing must be scrolled.
  while (log.children.length > mostLines) {
    log.lastElementChild.remove();
  }
}

on('said', (text) => {
  const {command, kubectl, answer, refused} = JSON.parse(text);
  const secret = riddle && command.startsWith('bug ');
  if (kubectl) {
    line('asked', el('span', {translate: 'no'}, `$ ${kubectl}`));
  }
  line(refused ? 'refused' : 'answered', secret ? 'A bug is hidden.' : answer);
  if (command.startsWith('apply ')) {
    say(byId('refused'), refused ? answer : '');
  }
  if ((refused || !kubectl) && !secret) {
    objects.means(answer);
  }
  if (command === 'reset') {
    done = [];
    objects.forget();
  } else if (command.startsWith('get ') && !refused) {
    byId('yaml').value = answer;
  } else if (command && !refused && !secret) {
    done.push(command);
    link();
  }
  tour.did(command, refused);
  const asked = unanswered.findIndex((one) => one.command === command);
  if (asked >= 0) {
    unanswered.splice(asked, 1)[0].said();
  }
});

on('write', (text) => {
  const write = JSON.parse(text);
  changed = Date.now();
  objects.wrote(write);
  tour.wrote(write);
});

let state = {on: {}, replicas: [], lease: 0, held: 0};
on('state', (text) => {
  state = JSON.parse(text);
  changed = Date.now();
  objects.now(state);
  tour.now(state);
  for (const box of switches) {
    box.checked = Boolean(state.on[box.dataset.do]);
  }
  for (const bug of document.querySelectorAll('#wrong [data-send]')) {
    bug.ariaPressed = !riddle && bug.dataset.do === state.bug;
  }
  // What is on is named, and one click puts it back.
  byId('on').replaceChildren(...switches.filter((box) => box.checked).map((box) => [box.value, `${box.dataset.do} off`])
    .concat(state.bug === 'none' || riddle ? [] : [[`bug ${state.bug}`, 'bug none']])
    .map(([name, back]) => el('li', {}, el('button', {type: 'button', 'data-send': back}, el('span', {}, name), ' ✕'))));
  say(byId('replicas-now'), state.replicas.join(', ') || '–');
  wait();
});

// What waits, and until when.
function wait() {
  const left = Math.ceil((state.lease - Date.now()) / 1000);
  const words = [
    state.held > 0 && `${counted(state.held, 'event')} held back`,
    left > 0 ? `nobody leads, Lease ${left} s left` : state.replicas.length === 0 && byId('loading').classList.contains('over') && 'no controller runs',
  ].filter(Boolean);
  say(byId('waits'), words.join(' · '));
  picture.why = words.map((text) => `${text[0].toUpperCase()}${text.slice(1)}`).join('. ');
}
setInterval(wait, 500);

// A screen reader hears what happened as soon as nothing more does, and no number that counts down.
byId('summary').hidden = true;
let heard = '';
setInterval(() => {
  const told = [...document.querySelectorAll('#last, .objects .note:not([hidden]), #waits')]
    .map((place) => (place.matches('tr') ? `${place.previousElementSibling.cells[0].textContent}: ` : '') + place.textContent.replace(/ ?\d+ (s|秒).*$/, (rest) => (place.id === 'last' ? rest : '')));
  const text = told.filter(Boolean).join('. ');
  if (text === heard) {
    say(byId('heard'), text);
  }
  heard = text;
}, 700);

// --- the program ---

const loaded = (part, text) => {
  byId('loading').querySelector('progress').value = part;
  say(byId('loaded'), text ?? byId('loaded').textContent);
};
on('progress', (part) => loaded(part));
on('failed', (text) => {
  say(byId('loading'), `There is no cluster in this tab: ${JSON.parse(text)}. The recording plays.`);
  byId('visit').disabled = true;
});

let free = false; // no lesson's state
function go(n) {
  free = false;
  riddle = null;
  history.replaceState(null, '', `#lesson=${n}`);
  return tour.begin(n);
}

// Does what the link says, and gives the page to the visitor.
async function follow(commands) {
  byId('hurry').hidden = false;
  for (const [n, command] of commands.entries()) {
    loaded(n / commands.length, `Doing again what the link says: ${n} of ${commands.length}.`);
    objects.begin();
    await ask(command);
    await settled();
  }
  hurried = false;
  link();
  free = done.length > 0;
  tour.begin(0);
}

const commands = linked();
tour.open({send: ask, settled, act, go, puzzle: () => hide(), guess: () => open('wrong')});
speak();
byId('hurry').addEventListener('click', () => { hurried = true; });

let awake = false;
on('hello', async () => {
  if (awake) {
    return;
  }
  awake = true;
  performance.mark('live');
  if (wanted.has('puzzle')) {
    await hide(Number.parseInt(wanted.get('puzzle'), 10) || undefined, Number(wanted.get('moves')));
  } else if (commands.length > 0 && !wanted.has('lesson')) {
    await follow(commands);
  } else {
    objects.forget();
    tour.begin(/^([1-9]|10)$/.test(wanted.get('lesson')) ? Number(wanted.get('lesson')) : 1, {fresh: true});
  }
  byId('loading').classList.add('over');
  byId('visit').disabled = false;
});

// A machine that slept has stopped everything here, and the Lease with it.
const asleep = 30_000;
let seen = Date.now();
setInterval(() => {
  const now = Date.now();
  if (now - seen > asleep) {
    const seconds = Math.round((now - seen) / 1000);
    line('refused', `This tab was paused for ${seconds} s.`);
  }
  seen = now;
}, 1000);

start();
