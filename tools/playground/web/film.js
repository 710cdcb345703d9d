// Selects the steps that the picture plays after an action: significant steps that the action caused,
// in order, up to the lesson's last one. Other steps are applied unseen.

import {feed, picture, player} from '../../../internal/observe/page/static/main.js';
import {headlineOf} from '../../../internal/observe/page/static/moves.js';

let rolls = false;
let begins = 0; // the number of the first step that the action can have caused
let end = ''; // how the headline of the last step begins
let ended = () => {};
const idle = new Set(); // keys whose reconcile was not caused by the action

picture.paced = true;
player.film = (step) => {
  step.routine = isRoutine(step);
  step.whole = step.part === 'store';
  return rolls && !step.routine;
};

/** Plays the consequences of an action, until then() is called after the step whose headline begins
 * so. */
export function roll(headline, then) {
  now();
  [rolls, begins, end, ended] = [true, player.history.end, headline, then];
}

/** Shows the current state at once. */
export function now() {
  feed.read(Infinity);
  player.live();
}

/** Shows no more steps. */
export function cut() {
  rolls = false;
}

/** Another process leads: its steps have new numbers, and all come after the action. */
export function restart() {
  begins = 0;
}

/** Shows a step that no process has recorded. */
export function show(step) {
  if (rolls) {
    picture.step(step);
  }
}

/** Takes a step that has been played to its end. */
export function reached(step) {
  if (rolls && step.n >= begins && !step.routine && headlineOf(step).startsWith(end)) {
    cut();
    ended();
  }
}

// Whether no cause of the step is a consequence of the action.
function isForeign({cause, causeSeq}) {
  const causes = (cause ?? '').split('; ');
  if (causes.length > 1 || !causeSeq) {
    return causes.every((text) => text.startsWith('our own write'));
  }
  const {history} = player;
  const n = history.find(causeSeq);
  return n >= 0 && (n < begins || history.at(n).routine);
}

function isRoutine(step) {
  const {part, what, key, text, echo, meaning, request, subject} = step;
  switch (part) {
    case 'stream':
      return Boolean(key) || /^BOOKMARK/.test(text) || what === 'ended' || what === 'opened' && !/list/.test(text);
    case 'store':
      return echo || ['resync', 'relisted'].includes(what) || what === 'updated' && (!meaning || meaning.text.startsWith('available'));
    case 'worker':
    case 'queue':
      return ['done', 'forgot', 'coalesced'].includes(what) || (['limited', 'delayed'].includes(what) ? idle.has(subject) : isForeign(step));
    case 'reconcile':
      if (what === 'started') {
        idle[isForeign(step) ? 'add' : 'delete'](subject);
      }
      return idle.has(subject) || what !== 'started' && text !== 'sent nothing';
    case 'request':
      // Most status writes only report what the picture shows already.
      return !request || request.method === 'GET' || request.path.endsWith('/status') && !/"reason":"NameTaken"/.test(request.body ?? request.reply);
    case 'server':
      return text.startsWith('controller-'); // Its request is shown.
  }
  return part === 'program' && what !== 'leader';
}
