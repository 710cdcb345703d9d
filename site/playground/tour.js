// The lessons: each sets its state up, asks, lets the visitor act once, and says what was seen.

import {byId, say} from '../../internal/page/static/dom.js';
import {took} from './objects.js';

// How long nothing happens until a lesson that has not ended is one that cannot.
const stuck = 9000;

const ready = (state, name, replicas) => state.foos.some((row) => row[0] === name && row[4] === 'True') && state.deployments.some(([, pods]) => pods === `${replicas}/${replicas}`);

// When each has ended, in the order of the page; the first is no lesson. wrote says whether the
// controller has sent such a write since the act, and passed whether so long ago it was.
const ends = [
  () => false,
  ({state, wrote}) => wrote('POST') && ready(state, 'example-foo', 2),
  ({state, wrote}) => wrote('PUT') && ready(state, 'example-foo', 2),
  ({state, passed}) => state.foos.some((row) => row[0] === 'example-foo' && row[2] === '4') && passed(2500),
  ({state}) => state.foos.some((row) => row[5] === 'NameTaken'),
  ({state}) => state.foos.length === 0 && state.deployments.length === 0,
  ({state, wrote}) => wrote('PUT', 409) && ready(state, 'example-foo', 4),
  ({wrote}) => wrote('POST', 403, 8),
  ({wrote}) => wrote('POST'),
  ({state, wrote}) => wrote('PUT') && ready(state, 'example-foo', 4),
  ({state, passed}) => passed(3000) && !state.deployments.some(([name]) => name === 'web'),
];

const lessons = byId('tour').children;
const last = ends.length - 1;
/** The puzzle stands behind the lessons. */
export const puzzle = last + 1;

let host; // {send(command): a promise of what was said, settled(): a promise, act(commands)}
let at = 1; // Its text can be read while the program comes.
let turn = 0; // Another lesson has begun when it is another one.
let phase = ''; // 'sets', 'asks', 'acts', 'seen' or 'lost'
let state = {foos: [], deployments: []};
let acts = [];
let left = []; // of the act
let writes = [];
let begun = 0; // the act
let acted = 0; // as far as it was carried out
let moved = 0;
let stated = 0; // when the state was told last
let follows = false; // the focus: what has it will be hidden or disabled

const lesson = () => lessons[at];
const isLesson = () => at > 0 && at < puzzle;
const button = () => lesson().querySelector('.first');

function show(next) {
  phase = next;
  const over = next === 'seen' || next === 'lost';
  lesson().dataset.phase = next;
  button().disabled = next === 'sets' || next === 'acts' || next === 'asks' && at > 1 && isLesson() && !lesson().querySelector(':checked');
  say(button(), next === 'lost' ? 'Set it up again' : over ? {[last]: 'Find a bug', [puzzle]: 'Another one'}[at] ?? 'Next lesson'
    : button().dataset.says);
  lesson().querySelectorAll('.seen').forEach((seen) => { seen.hidden = next !== 'seen'; });
  lesson().querySelectorAll('.guess').forEach((guess) => { guess.disabled = over || next === 'acts'; });
  lesson().querySelectorAll('p[data-says]').forEach((place) => say(place, place.dataset.says.replace('{took}', took('Deployment web'))));
  byId('lost').hidden = next !== 'lost';
  if (follows && document.activeElement === document.body) {
    (button().disabled ? lesson().querySelector('.guess:enabled input') : button())?.focus({preventScroll: true});
  }
}

/** Goes to a lesson, or with 0 to none, and sets its state up. */
export async function begin(n, {fresh} = {}) {
  lesson().hidden = true;
  at = n;
  const mine = ++turn;
  lesson().hidden = false;
  lesson().querySelectorAll('.guess input').forEach((input) => { input.checked = false; });
  say(byId('nth'), isLesson() ? `Lesson ${at} of ${last}` : at ? 'Puzzle' : 'Free');
  byId('earlier').disabled = at < 2;
  byId('later').disabled = at >= last;
  byId('again').disabled = at === 0;
  byId('page').hidden = !isLesson();
  byId('page').href = `lesson-${at}.html`;
  if (!isLesson()) {
    show('asks');
    return;
  }
  show('sets');
  const {setup, act} = lesson().dataset;
  acts = act.split('; ');
  left = [...acts];
  for (const command of [...(fresh ? [] : ['reset']), ...setup.split('; ')]) {
    await (command === 'wait' ? host.settled() : host.send(command));
    if (turn !== mine) {
      return;
    }
  }
  show('asks');
}

/** The puzzle is solved. */
export function solved() {
  show('seen');
}

/** Takes a command that was carried out, or refused. */
export function did(command, refused) {
  if ((phase === 'acts' || phase === 'asks') && left.includes(command)) {
    left.splice(left.indexOf(command), 1);
    acted = moved = Date.now();
    show(refused ? 'lost' : 'acts');
  }
}

/** An action begins: what was written before is no answer to it. */
export function before() {
  if (phase === 'asks') {
    writes = [];
    begun = Date.now();
  }
}

/** Takes a write. */
export function wrote(write) {
  moved = Date.now();
  writes.push(write);
  check();
}

/** Takes what is so now. */
export function now(newest) {
  state = newest;
  stated = moved = Date.now();
  check();
}

function check() {
  if (phase !== 'acts') {
    return;
  }
  const wroteIt = (method, code = 0, n = 1) => writes.filter((write) => write.by.startsWith('controller-') && write.kind === 'Deployment'
    && write.method === method && (code ? write.code === code : write.code < 300)).length >= n;
  if (left.length === 0 && stated > begun && ends[at]({state, wrote: wroteIt, passed: (ms) => Date.now() - acted > ms})) {
    show('seen');
  } else if (Date.now() - moved > stuck) {
    show('lost'); // Something else was done as well.
  }
}
setInterval(check, 500);

/** Begins to listen. */
export function open(given) {
  host = given;
  lesson().hidden = location.hash !== '';
  document.addEventListener('focusin', ({target}) => { follows = target.matches('.first, .guess input'); });
  byId('tour').addEventListener('change', () => phase === 'asks' && show('asks'));
  byId('tour').addEventListener('click', ({target}) => {
    if (!target.closest('.first')) {
      return;
    }
    if (phase === 'seen' && at >= last) {
      host.puzzle();
    } else if (at === puzzle) {
      host.guess();
    } else if (phase === 'seen' || at === 0) {
      host.go(at + 1);
    } else if (phase === 'lost') {
      host.go(at);
    } else {
      host.act(acts);
      moved = Date.now();
      show('acts');
    }
  });
  for (const [id, by] of Object.entries({earlier: -1, later: 1, again: 0})) {
    byId(id).addEventListener('click', () => (at === puzzle && by === 0 ? host.puzzle() : host.go(at + by)));
  }
}
