// The page of the site with a cluster behind it, and what the visitor can do to that.

import '../picture/main.js';
import {byId, el, say} from '../../internal/page/static/dom.js';
import {on, send, start} from './cluster.js';
import * as tour from './tour.js';

// --- the language ---

// Both texts, of which the page shows one.
const both = ([en, zh]) => [el('span', {lang: 'en'}, en), el('span', {lang: 'zh-CN'}, zh)];

const page = document.documentElement;
function speak(language) {
  page.dataset.speaks = language;
  say(byId('language'), language === 'en' ? '本页显示中文' : 'This page in English');
  byId('language').lang = language === 'en' ? 'zh-CN' : 'en';
}
byId('language').addEventListener('click', () => speak(page.dataset.speaks === 'en' ? 'zh' : 'en'));
speak(navigator.language.startsWith('zh') ? 'zh' : 'en');

byId('lessons').addEventListener('click', ({target}) => {
  const see = target.closest('[data-see]')?.dataset.see;
  if (see) {
    byId(see).scrollIntoView();
  }
});

// What a visitor reads elsewhere must not end what goes on here.
document.querySelector('main').addEventListener('click', ({target}) => target.closest('a')?.setAttribute('target', '_blank'));

// --- a state as a link ---

const mostCommands = 40;
const mostCharacters = 1500;
// Between the commands of a link, in milliseconds: time to see, and for the program to act.
const between = 700;
// What was done, one after the other; the same again leads to the same table.
let done = [];

// Whether the link's commands are being done.
let again = false;
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

// Writes what was done into the address. It is not called while a link is done again: a reload
// must find the whole link.
function link() {
  const text = done.map((words) => words.replaceAll(' ', '+')).join(';');
  const fits = done.length <= mostCommands && text.length <= mostCharacters;
  history.replaceState(history.state, '', fits ? `#${text}` : location.pathname + location.search);
  byId('link').hidden = !fits;
  byId('long').hidden = fits;
  byId('link').href = location.href;
}

// --- what the visitor does ---

// What a field holds, as a word of a command: see encoded in internal/playground.
const held = ({id, value}) => (id !== 'yaml' ? value
  : btoa(String.fromCodePoint(...new TextEncoder().encode(value))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''));

byId('visit').addEventListener('click', ({target}) => {
  const command = target.closest('[data-send]')?.dataset.send ?? '';
  const fields = [...command.matchAll(/{(.*?)}/g)].map(([, id]) => byId(id));
  if (command && fields.every((field) => field.checkValidity() || field.reportValidity())) {
    send(command.replaceAll(/{(.*?)}/g, (_, id) => held(byId(id))));
  }
});
byId('visit').addEventListener('change', ({target: {type, checked, dataset}}) => {
  if (dataset.do) {
    send(type === 'radio' ? `bug ${dataset.do}` : `${dataset.do} ${checked ? 'on' : 'off'}`);
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
  if (kubectl) {
    line('asked', `$ ${kubectl}`);
  }
  line(refused ? 'refused' : 'answered', both(answer));
  if (command.startsWith('apply ')) {
    byId('refused').replaceChildren(...(refused ? both(answer) : []));
  }
  if (refused) {
    return;
  }
  if (command.startsWith('get ')) {
    byId('yaml').value = answer[0];
  } else if (command) {
    done.push(command);
    if (!again) { // What a link does is no answer to a lesson.
      link();
      tour.did(command);
    }
  }
});

// Writes what has changed, and no more: with many rows the rest would be laid out anew.
function fill(body, rows) {
  rows.forEach((row, n) => {
    const shown = body.rows[n] ?? body.appendChild(el('tr', {}, row.map(() => el('td'))));
    row.forEach((cell, i) => say(shown.cells[i], cell));
  });
  while (body.rows.length > rows.length) {
    body.lastElementChild.remove();
  }
}

on('state', (text) => {
  const state = JSON.parse(text);
  for (const kind of ['foos', 'deployments']) {
    fill(byId(kind).tBodies[0], state[kind]);
  }
  for (const box of document.querySelectorAll('.luck [type=checkbox]')) {
    box.checked = Boolean(state.on[box.dataset.do]);
  }
  document.querySelector(`.luck [data-do="${state.bug}"]`).checked = true;
  const wrong = [...Object.keys(state.on).filter((name) => state.on[name]), ...(state.bug === 'none' ? [] : [`bug ${state.bug}`])];
  byId('replicas-now').replaceChildren(...both([0, 1].map((i) => [state.replicas.map((name) => name[i]).join(', ') || '–', ...wrong].join(' · '))));
  if (!again) {
    tour.now(state);
  }
});

// --- the program ---

const loaded = (part, ...text) => {
  byId('loading').querySelector('progress').value = part;
  if (text.length > 0) {
    byId('loaded').replaceChildren(...both(text));
  }
};
on('progress', (part) => loaded(part));
on('failed', (text) => {
  byId('loading').replaceChildren(...both([`There is no cluster in this tab: ${JSON.parse(text)}. The recording plays.`, `此标签页里没有集群：${JSON.parse(text)}。播放的是录像。`]));
  byId('visit').disabled = byId('lessons').hidden = true;
});

// Does what the link says, and gives the page to the visitor.
async function begin(commands) {
  again = true;
  for (const [n, command] of commands.entries()) {
    loaded(n / commands.length, `Doing again what the link says: ${n} of ${commands.length}.`, `重做链接里的操作：${n} / ${commands.length}。`);
    send(command);
    await new Promise((passed) => { setTimeout(passed, between); });
  }
  again = false;
  if (done.length > 0) {
    link();
  }
  byId('loading').classList.add('over');
  byId('visit').disabled = false;
}

let awake = false;
on('hello', () => {
  if (!awake) {
    awake = true;
    performance.mark('live');
    done = [];
    const commands = linked();
    if (commands.length === 0) {
      send('create example-foo example-foo 2');
    }
    begin(commands);
  }
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
