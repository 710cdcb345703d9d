// The page of the site with a cluster behind it, and what the visitor can do to that.

import '../picture/main.js';
import {byId, el, say} from '../../internal/page/static/dom.js';
import {on, send, start} from './cluster.js';
import {actions, blows, both, bugs, columns, switches} from './texts.js';
import * as tour from './tour.js';

// --- the language ---

const page = document.documentElement;
function speak(language) {
  page.dataset.speaks = language;
  say(byId('language'), language === 'en' ? '中文' : 'English');
  byId('language').lang = language === 'en' ? 'zh-CN' : 'en';
}
byId('language').addEventListener('click', () => speak(page.dataset.speaks === 'en' ? 'zh' : 'en'));
speak(navigator.language.startsWith('zh') ? 'zh' : 'en');

// --- a state as a link ---

const mostCommands = 40;
const mostCharacters = 1500;
// Between the commands of a link, in milliseconds: time to see, and for the program to act.
const between = 700;
// What was done, one after the other; the same again leads to the same table.
let done = [];

// The commands of the link. The program takes none that is not in its own list.
function linked() {
  const text = location.hash.slice(1);
  if (!text || text.length > mostCharacters || !/^[-A-Za-z0-9.:/+;]+$/.test(text)) {
    return [];
  }
  return text.split(';').slice(0, mostCommands).map((command) => command.replaceAll('+', ' '));
}

function remember(command) {
  done.push(command);
  const text = done.map((words) => words.replaceAll(' ', '+')).join(';');
  const fits = done.length <= mostCommands && text.length <= mostCharacters;
  history.replaceState(null, '', fits ? `#${text}` : location.pathname + location.search);
  byId('link').hidden = !fits;
  byId('link').href = location.href;
}

// --- what the visitor does ---

const fields = () => ({foo: byId('foo').value, deployment: byId('deployment').value, replicas: byId('replicas').value});
const words = new Map(); // of kubectl, by command

function act({of, id, kubectl}) {
  const command = of ? of(fields()) : id;
  words.set(command, kubectl ? kubectl(fields()) : '');
  send(command);
}

const button = (action) => el('button', {type: 'button', 'data-do': action.id, onclick: () => act(action)}, both(...action.name));
byId('actions').append(...actions.map(button));
byId('blows').append(...blows.map((blow) => el('li', {}, button(blow), el('p', {}, both(...blow.means)))));
byId('switches').append(...switches.map(({id, name, means}) => el('li', {}, el('label', {},
  el('input', {type: 'checkbox', 'data-do': id, onchange: (event) => send(`${id} ${event.target.checked ? 'on' : 'off'}`)}), ' ', both(...name)), el('p', {}, both(...means)))));
byId('bugs').append(...bugs.map(({id, means, judge, code}) => el('li', {}, el('label', {},
  el('input', {type: 'radio', name: 'bug', 'data-do': id, onchange: () => send(`bug ${id}`)}), ' ', el('code', {}, id)), el('p', {}, both(...means)),
judge && el('p', {}, both('The judge catches it in ', 'judge 中发现它的场景：'), el('code', {}, judge), both('. Right: ', '。正确的做法：'), el('a', {href: `read/${code}.html`}, el('code', {}, code))))));

// --- what comes of it ---

const mostLines = 100;
function line(text, tone) {
  const log = byId('log');
  log.prepend(el('li', {class: tone}, text)); // the newest first: nothing must be scrolled
  while (log.children.length > mostLines) {
    log.lastElementChild.remove();
  }
}

on('said', (text) => {
  const {command, answer, refused} = JSON.parse(text);
  line(answer, refused ? 'refused' : 'answered');
  line(`$ ${words.get(command) || command}`, 'asked');
  if (!refused) {
    remember(command);
    tour.did(command);
  }
});

for (const [kind, names] of Object.entries(columns)) {
  byId(kind).append(el('thead', {}, el('tr', {}, names.map((name) => el('th', {scope: 'col'}, name)))), el('tbody'));
}

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
  for (const kind of Object.keys(columns)) {
    fill(byId(kind).tBodies[0], state[kind]);
  }
  for (const box of byId('switches').querySelectorAll('input')) {
    box.checked = state.on.includes(box.dataset.do);
  }
  byId('bugs').querySelector(`[data-do="${state.bug}"]`).checked = true;
  say(byId('replicas-now'), state.replicas.join(', ') || '–');
  tour.now(state);
});

// --- the program ---

on('progress', (part) => { byId('loading').querySelector('progress').value = part; });
on('failed', (text) => {
  byId('loading').replaceChildren(...both(`There is no cluster in this tab: ${JSON.parse(text)}. The recording plays.`, `此标签页里没有集群：${JSON.parse(text)}。播放的是录像。`));
  byId('visit').disabled = true;
});

let awake = false;
on('hello', () => {
  if (!awake) {
    awake = true;
    performance.mark('live');
    byId('loading').hidden = true;
    byId('visit').disabled = false;
    const commands = linked();
    done = [];
    const begin = commands.length ? commands : ['create example-foo example-foo 2'];
    begin.forEach((command, n) => setTimeout(() => send(command), n * between));
  }
});

// A machine that slept has stopped everything here, and the Lease with it.
const asleep = 30_000;
let seen = Date.now();
setInterval(() => {
  const now = Date.now();
  if (now - seen > asleep) {
    line(page.dataset.speaks === 'en' ? `This tab was paused for ${Math.round((now - seen) / 1000)} s.` : `此标签页暂停了 ${Math.round((now - seen) / 1000)} 秒。`, 'refused');
  }
  seen = now;
}, 1000);

start();
