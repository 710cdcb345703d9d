// The lessons: each sets its state up, asks, lets the visitor act once, and shows the result after the
// picture has played it.

import {picture} from '../../../internal/observe/page/static/main.js';
import {byId, say} from '../../../internal/observe/page/static/dom.js';
import {ask, settled} from './cluster.js';
import * as film from './film.js';
import {took} from './objects.js';

// After so long without a change, a lesson that has not ended cannot end.
const stuck = 30_000;

// How long a setup waits for the cluster to be at rest: a slow machine needs time, and with a link's
// fault the cluster never is.
const slowest = 120_000;
const restless = 4000;

const lessons = byId('tour').children;
const last = lessons.length - 2;
/** Lesson 0 is the target of a link, and the puzzle follows the last lesson. */
export const puzzle = last + 1;

let at = 1; // Its text can be read while the program loads.
let turn = 0; // changes with each lesson
let phase = ''; // 'sets', 'asks', 'acts', 'seen' or 'lost'
let left = []; // commands left of the act
let moved = 0; // when anything last happened
let follows = false; // whether a control that will be disabled has the focus

const lesson = () => lessons[at];

function show(next) {
  phase = next;
  const form = lesson();
  form.dataset.phase = next;
  const button = form.querySelector('.act');
  button.disabled = !['asks', 'lost'].includes(next) && at > 0;
  say(button, {lost: 'Reset', sets: at > 0 && 'Setting up…'}[next] || button.dataset.says);
  form.querySelectorAll('.guess').forEach((guess) => { guess.disabled = next !== 'asks'; });
  form.querySelectorAll('.came').forEach((place) => say(place, next === 'lost' ? 'Something else was done, so this lesson cannot continue.' : place.dataset.says.replace('{took}', took('Deployment web'))));
  const answer = next === 'seen' && form.querySelector('.guess :checked');
  if (answer) {
    form.dataset.foresaw ??= 'right' in answer.dataset; // The first answer counts.
    form.querySelector('details').open = !('right' in answer.dataset);
  }
  const [right, wrong] = [true, false].map((was) => document.querySelectorAll(`[data-foresaw=${was}]`).length);
  const score = right + wrong > 0 ? ` · ${right} ✓ ${wrong} ✗` : '';
  say(byId('nth'), at === 0 ? 'Free' : at === puzzle ? 'Puzzle' : `Lesson ${at} of ${last}${score}`);
  if (follows && document.activeElement === document.body) {
    form.querySelector({asks: '.guess input', seen: '.next'}[next] ?? '.act')?.focus({preventScroll: true});
  }
}

/** Shows a lesson, the target of a link or the puzzle, before it can begin. */
export function open(n) {
  lesson().hidden = true;
  at = n;
  lesson().hidden = false;
  lesson().reset();
  const guess = lesson().querySelector('.guess');
  guess?.append(...[...guess.querySelectorAll('label')].sort(() => Math.random() - 0.5));
  byId('earlier').href = `#lesson=${at - 1}`;
  byId('later').href = `#lesson=${at + 1}`;
  byId('earlier').hidden = at < 2;
  byId('later').hidden = at >= last;
  show('sets');
}

/** Begins a lesson, the target of a link or the puzzle: sets its state up. */
export async function begin(n, commands = lessons[n].dataset.setup.split('; ')) {
  const mine = ++turn;
  film.cut();
  if (n !== at || phase !== 'sets') {
    open(n);
  }
  left = lesson().dataset.act?.split('; ') ?? [];
  for (const command of mine > 1 ? ['reset', ...commands] : commands) {
    await (command === 'wait' ? settled(n === 0 ? restless : slowest) : ask(command));
    if (turn !== mine) {
      return;
    }
  }
  film.now();
  show('asks');
}

/** The puzzle is solved. */
export const solved = () => show('seen');

/** An action begins: the picture plays it, up to the end of the lesson if the action is its act. */
export function before() {
  const mine = turn;
  film.roll(lesson().dataset.ends, () => turn === mine && phase === 'acts' && show('seen'));
}

/** Takes a command that was executed or rejected. */
export function did(command, refused) {
  if ((phase === 'acts' || phase === 'asks') && left.includes(command)) {
    left.splice(left.indexOf(command), 1);
    show(refused ? 'lost' : 'acts');
  }
}

/** Something has happened. */
export function moves() {
  moved = Date.now();
}

setInterval(() => {
  if (picture.showing) {
    moves();
  }
  if (phase === 'acts' && Date.now() - moved > stuck) {
    show('lost'); // Something else was done as well.
  }
}, 500);

/** Starts listening. act executes commands, and again returns to the target of the link. */
export function start({act, again}) {
  document.addEventListener('focusin', ({target}) => { follows = target.matches('.act, .next, .guess input'); });
  byId('again').addEventListener('click', again);
  byId('tour').addEventListener('click', ({target}) => {
    if (target.matches('.next')) {
      location.hash = at < last ? `lesson=${at + 1}` : 'puzzle';
    }
  });
  byId('tour').addEventListener('submit', (event) => {
    event.preventDefault();
    if (at === 0) {
      location.hash = 'lesson=1';
    } else if (at === puzzle) {
      byId('break').showPopover();
    } else if (phase === 'lost') {
      again();
    } else if (phase === 'asks') {
      moves();
      show('acts');
      act([...left]);
    }
  });
}
