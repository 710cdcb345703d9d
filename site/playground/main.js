// The page of the site with a cluster behind it, and what the visitor can do to that.

import '../picture/main.js';
import {picture} from '../../internal/page/static/main.js';
import {byId, el} from '../../internal/page/static/dom.js';
import {both, sayBoth} from './words.js';
import {on, send, start} from './cluster.js';
import * as objects from './objects.js';
import * as tour from './tour.js';

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
document.querySelector('main').addEventListener('click', ({target}) => target.closest('a:not(#link)')?.setAttribute('target', '_blank'));

// --- a state as a link ---

const mostCommands = 40;
const mostCharacters = 1500;
// What was done since everything began anew; the same again leads to the same table.
let done = [];
// Another link in the same tab begins anew.
addEventListener('hashchange', () => location.reload());

// The commands of the link. The program takes none that is not in its own list.
function linked() {
  const text = location.hash.slice(1);
  if (!text || text.length > mostCharacters || !/^[-\w.:/+;]+$/.test(text)) {
    return [];
  }
  return text.split(';').slice(0, mostCommands).map((command) => command.replaceAll('+', ' '));
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

const bugs = [...document.querySelectorAll('#wrong [data-send]')].map((button) => button.dataset.do).filter((name) => name !== 'none');
let riddle = null; // {bug, moves}

// Hides a bug in the controller.
async function hide() {
  free = false;
  history.replaceState(null, '', '#puzzle');
  riddle = null;
  open(null);
  await ask('reset');
  riddle = {bug: bugs[Math.floor(Math.random() * bugs.length)], moves: 0};
  moved(0);
  tour.begin(tour.puzzle);
  for (const command of ['create shop web 2', 'create cafe bar 1', `bug ${riddle.bug}`]) {
    await ask(command);
  }
}

function moved(n) {
  riddle.moves += n;
  byId('moves').textContent = riddle.moves;
  byId('wrong-guess').replaceChildren();
}

function guess(name) {
  moved(1);
  if (name !== riddle.bug) {
    byId('wrong-guess').replaceChildren(...both([`It is not ${name}.`, `不是 ${name}。`]));
    return;
  }
  sayBoth(byId('found'), [`Found ${name} in ${riddle.moves} moves.`, `用 ${riddle.moves} 步找到 ${name}。`]);
  byId('truth').replaceChildren(...[...document.querySelectorAll(`#wrong [data-do=${name}] ~ p`)].map((text) => text.cloneNode(true)));
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
    line('asked', `$ ${kubectl}`);
  }
  line(refused ? 'refused' : 'answered', both(secret ? ['A bug is hidden.', '藏好了一个 bug。'] : answer));
  if (command.startsWith('apply ')) {
    byId('refused').replaceChildren(...(refused ? both(answer) : []));
  }
  if ((refused || !kubectl) && !secret) {
    objects.means(answer);
  }
  if (command === 'reset') {
    done = [];
    objects.forget();
  } else if (command.startsWith('get ') && !refused) {
    byId('yaml').value = answer[0];
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
  for (const box of document.querySelectorAll('.luck [type=checkbox]')) {
    box.checked = Boolean(state.on[box.dataset.do]);
  }
  for (const bug of document.querySelectorAll('#wrong [data-send]')) {
    bug.ariaPressed = !riddle && bug.dataset.do === state.bug;
  }
  // What is on is named, and one click puts it back.
  byId('on').replaceChildren(...Object.keys(state.on).filter((name) => state.on[name])
    .map((name) => [[...document.querySelector(`.luck [data-do=${name}]`).parentElement.querySelectorAll('span')].map((span) => span.textContent), `${name} off`])
    .concat(state.bug === 'none' || riddle ? [] : [[Array(2).fill(`bug ${state.bug}`), 'bug none']])
    .map(([name, back]) => el('li', {}, el('button', {type: 'button', 'data-send': back}, both(name), ' ✕'))));
  byId('replicas-now').replaceChildren(...both([0, 1].map((i) => state.replicas.map((name) => name[i]).join(', ') || '–')));
  wait();
});

// What waits, and until when.
function wait() {
  const left = Math.ceil((state.lease - Date.now()) / 1000);
  const words = [];
  if (state.held > 0) {
    words.push([`${state.held} event${state.held > 1 ? 's' : ''} held back`, `${state.held} 个事件被扣住`]);
  }
  if (left > 0) {
    words.push([`nobody leads, Lease ${left} s left`, `无领导者，Lease 还剩 ${left} 秒`]);
  } else if (state.replicas.length === 0 && byId('loading').classList.contains('over')) {
    words.push(['no controller runs', '没有控制器在运行']);
  }
  sayBoth(byId('waits'), [0, 1].map((i) => words.map((word) => word[i]).join(' · ')));
  picture.why = words.map(([en]) => en[0].toUpperCase() + en.slice(1)).join('. ');
}
setInterval(wait, 500);

// --- the program ---

const loaded = (part, ...text) => {
  byId('loading').querySelector('progress').value = part;
  if (text.length > 0) {
    sayBoth(byId('loaded'), text);
  }
};
on('progress', (part) => loaded(part));
on('failed', (text) => {
  byId('loading').replaceChildren(...both([`There is no cluster in this tab: ${JSON.parse(text)}. The recording plays.`, `此标签页里没有集群：${JSON.parse(text)}。播放的是录像。`]));
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
    loaded(n / commands.length, `Doing again what the link says: ${n} of ${commands.length}.`, `重做链接里的操作：${n} / ${commands.length}。`);
    objects.begin();
    await ask(command);
    await settled();
  }
  hurried = false;
  free = done.length > 0;
  link();
  tour.begin(0);
}

tour.open({send: ask, settled, act, go, puzzle: hide, guess: () => open('wrong')});
byId('hurry').addEventListener('click', () => { hurried = true; });

let awake = false;
on('hello', async () => {
  if (awake) {
    return;
  }
  awake = true;
  performance.mark('live');
  const lesson = /^#lesson=([1-9]|10)$/.exec(location.hash);
  const commands = lesson || location.hash === '#puzzle' ? [] : linked();
  if (location.hash === '#puzzle') {
    await hide();
  } else if (commands.length > 0) {
    await follow(commands);
  } else {
    objects.forget();
    tour.begin(Number(lesson?.[1] ?? 1), {fresh: true});
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
    line('refused', both([`This tab was paused for ${seconds} s.`, `此标签页暂停了 ${seconds} 秒。`]));
  }
  seen = now;
}, 1000);

start();
