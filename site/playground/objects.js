// The objects as kubectl get shows them, what happened to each last, and what came of an action.
// A correction is over in milliseconds: both are made of the writes, not of what is so now.

import {choose, player} from '../../internal/page/static/main.js';
import {byId, el, say} from '../../internal/page/static/dom.js';
import {both, lasted, sayBoth, who} from './words.js';

const byController = (write) => write.by.startsWith('controller-');
// So many states of one object are told.
const mostValues = 5;
// How long the row of an object that is gone stays, at least.
const remembered = 10_000;

let state = {foos: [], deployments: [], on: {}, held: 0};
// What happened to an object, by 'Kind name': its states one after the other, the last of which
// the controller has written if it is closed. null is none.
const stories = new Map();

/** Takes a write. */
export function wrote(write) {
  count(write);
  const gone = write.method === 'DELETE';
  if (write.status || write.code >= 300 || !gone && Object.keys(write.fields).length === 0) {
    return;
  }
  const id = `${write.kind} ${write.name}`;
  const before = stories.get(id);
  const story = before && !before.closed ? before : {values: [before?.values.at(-1) ?? null], since: write.at};
  story.values = [...story.values, gone ? null : write.fields].slice(-mostValues);
  stories.set(id, Object.assign(story, {by: write.by, method: write.method, at: write.at, closed: byController(write) || write.kind === 'Foo'}));
  draw();
}

// "replicas 2 → 7 → 2 · 14 ms · the controller's PUT"
function told(story) {
  const {values, since, at, by, method} = story;
  let what;
  if (values.includes(null)) {
    const words = values.slice(1).map((value) => (value ? ['created', '已创建'] : ['deleted', '已删除']));
    what = [0, 1].map((i) => words.map((word) => word[i]).join(' → '));
  } else {
    const name = Object.keys(values[0]).find((field) => values.some((value) => value[field] !== values[0][field]));
    what = name ? Array(2).fill(`${name} ${values.map((value) => value[name]).join(' → ')}`) : ['written again', '又写了一次'];
  }
  const took = values.length > 2 && story.closed ? lasted(at - since).map((text) => ` · ${text}`) : ['', ''];
  const whose = by === 'you' ? ['you', '你'] : [`${who(by)[0]}'s ${method}`, `${who(by)[1]}的 ${method}`];
  return [0, 1].map((i) => `${what[i]}${took[i]} · ${whose[i]}`);
}

/** How long the last correction of an object took, as text. */
export function took(id) {
  const story = stories.get(id);
  return lasted(story ? story.at - story.since : 0);
}

// What an object waits for, or what happened to it last.
function noteOf(kind, name, there) {
  const due = kind === 'Foo' ? (player.world.later.get(`default/${name}`) ?? 0) - Date.now() : 0;
  const stored = state.store?.[name];
  const row = there && state.deployments.find(([other]) => other === name);
  const replicas = row ? row[1].split('/')[1] : 'none';
  if (kind === 'Deployment' && state.on.hold && (stored ?? 'none') !== replicas) {
    return [`server: ${row ? `replicas ${replicas}` : 'gone'} · the controller's store: ${stored ? `replicas ${stored}` : 'none'}`,
      `服务器：${row ? `副本 ${replicas}` : '没有了'} · 控制器的 store：${stored ? `副本 ${stored}` : '没有'}`];
  }
  if (due > 500) {
    return [`next try in ${Math.ceil(due / 1000)} s`, `${Math.ceil(due / 1000)} 秒后重试`];
  }
  const story = stories.get(`${kind} ${name}`);
  // What came of an earlier action is told on if it was a correction.
  return story && (story.values.length > 2 || story.at >= (action?.at ?? Infinity)) ? told(story) : ['', ''];
}

const rows = new Map();
function rowOf(id, cells) {
  if (!rows.has(id)) {
    const [kind, name] = id.split(' ');
    const link = el('button', {type: 'button', class: 'link', onclick: () => choose.object(`${kind} default/${name}`)}, name);
    const row = el('tr', {}, cells.map((_, i) => el('td', {}, i === 0 && link)));
    const note = el('td', {colspan: cells.length});
    rows.set(id, {row, note, line: el('tr', {class: 'note'}, note)});
  }
  return rows.get(id);
}

function lightUp({row, line}) {
  for (const part of [row, line]) {
    part.animate([{backgroundColor: 'var(--lit)'}, {backgroundColor: 'var(--lit)', offset: 0.4}, {backgroundColor: 'transparent'}], 2000);
  }
}

function draw() {
  for (const [kind, table] of [['Foo', 'foos'], ['Deployment', 'deployments']]) {
    const there = state[table];
    const width = kind === 'Foo' ? 6 : 5;
    const ghosts = [...stories].filter(([id, story]) => id.startsWith(`${kind} `) && !story.values.at(-1) && !there.some(([name]) => id === `${kind} ${name}`))
      .map(([id]) => [id.slice(kind.length + 1), ...Array(width - 1).fill('–')]);
    const wanted = [];
    for (const cells of [...there, ...ghosts]) {
      const shown = rowOf(`${kind} ${cells[0]}`, cells);
      const note = noteOf(kind, cells[0], !ghosts.includes(cells));
      const before = shown.row.textContent + shown.note.textContent.replace(/\d+/g, '');
      cells.forEach((cell, i) => i > 0 && say(shown.row.cells[i], cell));
      sayBoth(shown.note, note);
      shown.row.classList.toggle('gone', ghosts.includes(cells));
      shown.line.hidden = !note[0];
      if (shown.row.textContent + shown.note.textContent.replace(/\d+/g, '') !== before) {
        lightUp(shown);
      }
      wanted.push(shown.row, shown.line);
    }
    const body = byId(table).tBodies[0];
    if (wanted.length !== body.rows.length || wanted.some((row, i) => row !== body.rows[i])) {
      body.replaceChildren(...wanted);
    }
  }
  for (const id of rows.keys()) {
    if (!rows.get(id).row.isConnected) {
      rows.delete(id);
    }
  }
}

/** Takes what is so now. */
export function now(newest) {
  state = newest;
  draw();
}
setInterval(draw, 500); // What waits counts down.

// --- what came of an action ---

let action = null;

/** An action of the visitor begins, with a text if it is no request; nothing before it counts. */
export function begin() {
  action = {text: null, at: Date.now(), last: 0, of: new Map()};
  for (const [id, {values, at}] of stories) {
    if (!values.at(-1) && Date.now() - at > remembered && !state.on.hold) {
      stories.delete(id);
    }
  }
}

/** Forgets everything: the cluster is empty. */
export function forget() {
  stories.clear();
  action = null;
  tell();
}

/** Says what an action is that is no request. */
export function means(text) {
  if (action && !action.text && action.of.size === 0) {
    action.text = text;
    tell();
  }
}

function count(write) {
  if (action) {
    const by = who(write.by)[0];
    const of = action.of.get(by) ?? {who: who(write.by), methods: new Map()};
    const method = `${write.method}${write.code >= 300 ? ` (${write.code})` : ''}`;
    of.methods.set(method, (of.methods.get(method) ?? 0) + 1);
    action.of.set(by, of);
    action.last = Math.max(action.last, write.at - action.at);
    tell();
  }
}

const plural = (method, n) => (n === 1 ? `1 ${method}` : `${n} ${method.replace(/^\w+/, '$&s')}`);
const listed = (words) => (words.length > 1 ? `${words.slice(0, -1).join(', ')} and ${words.at(-1)}` : words.join());

// "1 DELETE by you, 1 POST and 2 PUTs by the controller, 1.8 s"
function tell() {
  const {text, last, of} = action ?? {text: ['What comes of an action is told here', '操作的结果显示在这里'], of: new Map()};
  const parts = [...of.values()].map(({who: [en, zh], methods}) => [
    `${listed([...methods].map(([method, n]) => plural(method, n)))} by ${en}`,
    `${zh} ${[...methods].map(([method, n]) => `${n} 个 ${method}`).join('、')}`]);
  const time = last > 0 && parts.length > 0 ? [lasted(last)] : [];
  sayBoth(byId('last'), [0, 1].map((i) => [...(text ? [text[i].replace(/[.。]$/, '')] : []), ...[...parts, ...time].map((part) => part[i])].join(i ? '，' : ', ')));
}
