// Connects the parts of the page: Feed → History → Player → World, and the views. The picture is drawn
// once a frame, words and numbers a few times a second.

import {byId, clock, count, counted, el, say} from './dom.js';
import {Feed} from './feed.js';
import {History} from './history.js';
import {lineOf, Panel} from './panel.js';
import {parts, view} from './parts.js';
import {Picture} from './picture.js';
import {Player} from './player.js';
import {Tables} from './tables.js';
import {rateOf} from './world.js';

const lastMinute = 60_000;
// Words change at most this often, in milliseconds; the summary for screen readers less often.
const everyWords = 250;
const everySummary = 6000;
// How many milliseconds of a frame may be spent on reading new steps.
const readBudget = 6;
// A recording starts this many times slower than it happened. At its real speed, a hundred steps pass
// while the picture shows the first.
const slowly = 10;

const history = new History();
export const choose = {
  part: (id) => open(() => panel.showPart(id), id),
  object: (subject) => open(() => panel.showObject(subject), null),
};
export const picture = new Picture(byId('picture'), byId('caption'), choose);
const panel = new Panel(byId('panel'), history, {seek: goTo, close: closePanel});
const tables = new Tables(history, choose);
export const player = new Player(history, {
  step: (step) => {
    picture.step(step);
    if (player.slower > 1) {
      worded = -Infinity; // The words show the same step at once.
    }
  },
  showing: () => picture.showing,
  reached() {},
  moved: () => picture.clear(),
  mode: showMode,
});

const connection = {process: '', open: false, recording: '', arrived: 0};
let opener = null;

// --- input ---

export const feed = new Feed({
  mark: (run) => player.after(run),
  hello(hello) {
    const known = connection.process;
    const fromRecording = connection.recording && !hello.recording;
    if (known && known !== hello.process) {
      history.clear();
      player.clear();
      picture.clear();
      if (fromRecording) {
        player.live(); // The end of the recording has left it paused.
        goAt(1);
      }
      const restarted = fromRecording ? 'The recording is over. This is live'
        : `${hello.played ? `${hello.process} leads since` : 'The program was restarted at'} ${clock(Date.now())}`;
      notice('restarted', hello.recording ? 'The recording starts again.' : `${restarted}. The page starts again with it.`);
    }
    connection.process = hello.process;
    connection.recording = hello.recording ?? '';
    player.ends = Boolean(hello.recording);
    view.outside = Boolean(hello.outside);
    document.body.classList.toggle('outside', view.outside);
    panel.meet(hello);
    if (hello.recording && known !== hello.process) {
      goAt(slowly);
      player.set('playing');
    }
    showMode();
  },
  steps(steps, {kept}) {
    for (const step of steps) {
      // Steps from before this page are not animated, unless they are played.
      step.kept = kept;
      history.add(step);
    }
    connection.arrived = performance.now();
    notice('lost', history.gaps ? `${counted(history.gaps, 'step')} lost: more happened than could be sent. Objects and counts may be out of date until they change again.` : '');
  },
  state(state) {
    connection.open = state === 'open';
    if (!connection.open) {
      notice('restarted', '');
      feed.read(Infinity);
      player.mode === 'live' && player.live(); // Drawn later, it would look new.
    }
    notice('gone', connection.open ? '' : 'The program does not answer. The page still shows what it did, and continues when a program runs again.');
    showMode();
  },
});

// --- texts ---

function notice(id, text) {
  const shown = byId(`notice-${id}`);
  if (!text) {
    shown?.remove();
  } else if (shown) {
    say(shown.firstElementChild, text);
  } else {
    byId('notices').append(el('p', {id: `notice-${id}`, class: 'notice'}, el('span', {}, text),
      el('button', {type: 'button', onclick: (event) => event.target.parentElement.remove()}, 'OK')));
  }
}

function showMode() {
  const {mode} = player;
  const words = !connection.open ? 'not connected' : {live: connection.recording ? 'recording' : 'live', paused: 'paused', playing: 'replay'}[mode];
  const state = byId('state');
  state.dataset.mode = connection.open ? mode : 'gone';
  say(state, connection.recording ? `${words} · ${connection.recording}` : words);
  say(byId('pause'), mode === 'paused' ? 'Play' : 'Pause');
  byId('live').disabled = mode === 'live';
  say(byId('live'), connection.recording ? 'To the end' : 'Live');
}

function showTime(at) {
  const slider = byId('position');
  slider.min = history.first;
  slider.max = history.end;
  if (document.activeElement !== slider || player.mode !== 'paused') {
    slider.value = player.position;
  }
  const step = history.at(player.position - 1);
  const behind = history.end - player.position;
  const late = player.mode === 'live' ? Math.round((at - picture.oldest) / 1000) : 0;
  const text = step ? `${clock(step.at)}, step ${count(step.seq)}${behind ? `, ${count(behind)} more` : ''}` : history.end ? `before the first of ${counted(history.end, 'step')}` : 'no step yet';
  say(byId('when'), late > 1 ? `${text}; the picture shows what was ${late} s ago` : text);
  slider.setAttribute('aria-valuetext', text);
  byId('back').disabled = player.position <= history.first;
  byId('step').disabled = behind === 0;
}

// For a screen reader: the news since the last summary.
let summarized = {at: 0, end: 0};
function summarize(now) {
  if (now - summarized.at < everySummary) {
    return;
  }
  const {world, position} = player;
  const n = position - summarized.end;
  summarized = {at: now, end: position};
  if (n > 0) {
    say(byId('summary'), `New steps: ${n}. ${lineOf(view.outside ? 'request' : 'queue', world, 0)}.${world.last?.meaning ? ` Last: ${world.last.key} ${world.last.meaning.text}.` : ''}`);
  }
}

// --- the selection ---

function open(show, part) {
  opener = document.activeElement;
  showPanel(show, part);
  byId('panel').focus({preventScroll: true});
  opener.scrollIntoView({block: 'nearest'}); // It may lie below the panel.
}

function closePanel() {
  showPanel(() => panel.welcome(), null);
  opener?.focus?.();
}

function showPanel(show, part) {
  show();
  picture.scene.choose(part);
  words(performance.now());
}

function goTo(n) {
  player.set('paused');
  player.seek(n);
  const step = history.at(player.position - 1);
  if (step) {
    picture.step(step);
  }
}

byId('pause').addEventListener('click', () => player.set(player.mode === 'paused' ? 'playing' : 'paused'));
byId('step').addEventListener('click', () => player.step());
byId('back').addEventListener('click', () => goTo(player.position - 1));
byId('live').addEventListener('click', () => player.live());
byId('replay').addEventListener('click', () => player.replay(lastMinute));
function goAt(slower) {
  player.slower = slower;
  byId('speed').value = slower;
}

byId('speed').addEventListener('change', (event) => {
  player.slower = Number(event.target.value);
  // Slower than real time is not live.
  if (player.slower > 1 && player.mode === 'live') {
    player.set('playing');
  }
});
byId('position').addEventListener('input', (event) => goTo(Number(event.target.value)));
byId('filter').addEventListener('input', () => words(performance.now()));

// --- system preferences ---

const prefers = (query, act) => {
  const media = matchMedia(query);
  media.addEventListener('change', () => act(media.matches));
  act(media.matches);
};
prefers('(prefers-reduced-motion: reduce)', (reduce) => {
  picture.still = reduce;
  picture.clear();
});
prefers('(max-width: 760px)', (small) => picture.lay(small ? 'narrow' : 'wide'));

// --- the loop ---

let worded = 0;
function words(now) {
  worded = now;
  const {world} = player;
  // Time also passes when nothing happens.
  const at = player.mode === 'live' ? world.time + (now - connection.arrived) : world.time;
  for (const {id} of parts) {
    picture.scene.number(id, lineOf(id, world, at));
  }
  picture.scene.waiting(world.depth);
  // The server and the handler repeat the steps of other parts.
  const rate = parts.reduce((sum, {id}) => sum + (['server', 'handler'].includes(id) ? 0 : rateOf(world.parts[id], at)), 0);
  picture.summarize(rate);
  panel.update(world, player.position, at);
  tables.update(world, player.position);
  showTime(at);
  summarize(now);
}

function frame(now) {
  // First, so that a failure here does not stop the page.
  requestAnimationFrame(frame);
  const due = () => now - worded >= everyWords;
  // A frame with due words reads nothing, so that each frame is short.
  if (!due()) {
    feed.read(readBudget);
    player.advance(now);
  }
  picture.frame(now);
  if (due()) {
    words(now);
  }
}
requestAnimationFrame(frame);
