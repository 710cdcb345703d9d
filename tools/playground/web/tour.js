// The lessons: each sets its state up, asks, lets the visitor act once, and says what was seen.

import {byId, say} from '../../../internal/observe/page/static/dom.js';
import {ask, settled} from './cluster.js';
import {took} from './objects.js';

// How long nothing happens until a lesson that has not ended is one that cannot.
const stuck = 9000;

let state = null; // as it was told since the act
let writes = []; // of Deployments by the controller since the act, such as 'PUT' and 'PUT 409'
let acted = 0; // when the act was carried out, as far as it was
let moved = 0; // when anything happened last

const ready = (replicas) => state.foos.some((row) => row[0] === 'example-foo' && row[4] === 'True') && state.deployments.some(([, pods]) => pods === `${replicas}/${replicas}`);
const passed = (milliseconds) => Date.now() - acted > milliseconds;

// When each has ended, in the order of the page.
const ends = [
  () => writes.includes('POST') && ready(2),
  () => writes.includes('PUT') && ready(2),
  () => state.foos.some((row) => row[0] === 'example-foo' && row[2] === '4') && passed(2500),
  () => state.foos.length === 0 && state.deployments.length === 0,
  () => state.foos.some((row) => row[5] === 'NameTaken'),
  () => writes.includes('PUT 409') && ready(4),
  () => writes.filter((write) => write === 'POST 403').length >= 8,
  () => writes.includes('POST'),
  () => writes.includes('PUT') && ready(4),
  () => passed(3000) && !state.deployments.some(([name]) => name === 'web'),
];

const lessons = byId('tour').children;
const last = ends.length;
/** Before the lessons stands what a link leads to, and behind them the puzzle. */
export const puzzle = last + 1;

let at = 1; // Its text can be read while the program comes.
let turn = 0; // Another lesson has begun when it is another one.
let phase = ''; // 'sets', 'asks', 'acts', 'seen' or 'lost'
let left = []; // of the act
let follows = false; // the focus: what has it will be hidden or disabled

const lesson = () => lessons[at];

function show(next) {
  phase = next;
  lesson().dataset.phase = next;
  const button = lesson().querySelector('.first');
  button.disabled = next === 'sets' || next === 'acts';
  say(button, {seen: button.dataset.next, lost: 'Set it up again'}[next] ?? button.dataset.says);
  lesson().querySelectorAll('.guess').forEach((guess) => { guess.disabled = next !== 'asks'; });
  lesson().querySelectorAll('.came').forEach((place) => say(place, next === 'lost' ? 'Something else was done, so this lesson cannot go on.' : place.dataset.says.replace('{took}', took('Deployment web'))));
  const answer = next === 'seen' && lesson().querySelector('.guess :checked');
  if (answer) {
    lesson().dataset.foresaw ??= 'right' in answer.dataset; // The first answer counts.
    lesson().querySelector('details').open = !('right' in answer.dataset);
  }
  const [right, wrong] = [true, false].map((was) => document.querySelectorAll(`[data-foresaw=${was}]`).length);
  const score = right + wrong > 0 ? ` · ${right} ✓ ${wrong} ✗` : '';
  say(byId('nth'), at === 0 ? 'Free' : at === puzzle ? 'Puzzle' : `Lesson ${at} of ${last}${score}`);
  if (follows && document.activeElement === document.body) {
    (lesson().querySelector('.guess:enabled input') ?? button).focus({preventScroll: true});
  }
}

/** Goes to a lesson, or to what is none, and sets its state up. */
export async function begin(n, commands = lessons[n].dataset.setup.split('; ')) {
  lesson().hidden = true;
  at = n;
  const mine = ++turn;
  lesson().hidden = false;
  lesson().reset();
  byId('earlier').href = `#lesson=${at - 1}`;
  byId('later').href = `#lesson=${at + 1}`;
  byId('earlier').hidden = at < 2;
  byId('later').hidden = at >= last;
  show('sets');
  left = lesson().dataset.act?.split('; ') ?? [];
  for (const command of mine > 1 ? ['reset', ...commands] : commands) {
    await (command === 'wait' ? settled() : ask(command));
    if (turn !== mine) {
      return;
    }
  }
  show('asks');
}

/** The puzzle is solved. */
export const solved = () => show('seen');

/** An action begins: what was written before is no answer to it. */
export function before() {
  if (phase === 'asks') {
    writes = [];
    state = null;
  }
}

/** Takes a command that was carried out, or refused. */
export function did(command, refused) {
  if ((phase === 'acts' || phase === 'asks') && left.includes(command)) {
    left.splice(left.indexOf(command), 1);
    acted = moved = Date.now();
    show(refused ? 'lost' : 'acts');
  }
}

/** Takes a write. */
export function wrote({by, kind, method, code}) {
  moved = Date.now();
  if (by.startsWith('controller-') && kind === 'Deployment') {
    writes.push(code < 300 ? method : `${method} ${code}`);
    check();
  }
}

/** Takes what is so now. */
export function now(newest) {
  state = newest;
  moved = Date.now();
  check();
}

function check() {
  if (phase === 'acts' && state && left.length === 0 && ends[at - 1]()) {
    show('seen');
  } else if (phase === 'acts' && Date.now() - moved > stuck) {
    show('lost'); // Something else was done as well.
  }
}
setInterval(check, 500);

/** Begins to listen. act carries commands out, and again begins what the link says. */
export function open({act, again}) {
  lesson().hidden = location.hash !== '';
  document.addEventListener('focusin', ({target}) => { follows = target.matches('.first, .guess input'); });
  byId('again').addEventListener('click', again);
  byId('tour').addEventListener('submit', (event) => {
    event.preventDefault();
    if (phase === 'seen' || at === 0) {
      location.hash = at < last ? `lesson=${at + 1}` : 'puzzle';
    } else if (at === puzzle) {
      byId('wrong').showPopover();
    } else if (phase === 'lost') {
      again();
    } else {
      act([...left]);
      moved = Date.now();
      show('acts');
    }
  });
}
