// The objects as kubectl get shows them, the last change of each, and the result of an action. A
// correction takes milliseconds, so the writes are shown, too, and not only the current state.

import {choose, picture, player} from '../../../internal/observe/page/static/main.js';
import {byId, counted, el, say, took as lasted} from '../../../internal/observe/page/static/dom.js';

// How many states of one object are shown.
const mostValues = 5;
// How many rows light up at once; more would be the whole table.
const mostLit = 8;
// How long the row of a deleted object stays, at least.
const remembered = 10_000;

let state = {foos: [], deployments: [], on: {}, held: 0};
let written = 0; // when the newest shown write was
// The last change of an object, by 'Kind name': its states in order, null while it does not exist.
// closed means that the controller has written the last one.
const histories = new Map();

/** The writer, in words. A process of the controller is the controller. */
export const who = (by) => (by.startsWith('controller-') ? 'the controller' : by);

// The fields that a controller sets.
const fieldsOf = ({replicas, deploymentName, template}) => ({replicas, Deployment: deploymentName, image: template?.spec?.containers?.[0]?.image});

/** Takes a write, as a step of the API server. */
export function wrote({at, text, kind, key, request: {method, path, status: code, reply}}) {
  const write = {at, by: text, kind, name: key.split('/')[1], method, code, status: path.endsWith('/status'), spec: reply && JSON.parse(reply)};
  count(write);
  const gone = write.method === 'DELETE';
  if (write.status || write.code >= 300 || !gone && !write.spec) {
    return;
  }
  change(write);
  const id = `${write.kind} ${write.name}`;
  const before = histories.get(id);
  const history = before && !before.closed ? before : {values: [before?.values.at(-1) ?? null], since: write.at};
  history.values = [...history.values, gone ? null : fieldsOf(write.spec)].slice(-mostValues);
  histories.set(id, Object.assign(history, {by: who(write.by), method: write.method, at: write.at, closed: who(write.by) === 'the controller' || write.kind === 'Foo'}));
}

// Applies a write to the tables: a change that lasts milliseconds is visible, too.
function change({at, by, kind, name, method, spec}) {
  written = at;
  const table = kind === 'Foo' ? 'foos' : 'deployments';
  const before = state[table].find((cells) => cells[0] === name);
  const others = state[table].filter((cells) => cells !== before);
  const {replicas, Deployment, image} = fieldsOf(spec ?? {});
  const owner = state.foos.find((cells) => cells[1] === name);
  const [, wants, ...rest] = before ?? (kind === 'Foo' ? [name, '', '', '0', '', ''] : [name, '0/', '0', image, owner && who(by) !== by ? `Foo ${owner[0]}` : '']);
  const now = kind === 'Foo' ? [name, Deployment, `${replicas}`, ...rest.slice(1)] : [name, `${wants.split('/')[0]}/${replicas}`, rest[0], image, rest[2]];
  state = {...state, [table]: method === 'DELETE' ? others : [...others, now].sort(([a], [b]) => (a < b ? -1 : 1))};
  draw();
}

// "replicas 2 → 7 → 2 · the controller's PUT"
function told({values, by, method}) {
  const arrows = (texts) => texts.join('\u00a0→\u00a0');
  const field = Object.keys(values.at(-1) ?? {}).find((name) => values.some((value) => value?.[name] !== values.at(-1)[name]));
  return [values.includes(null) ? arrows(values.slice(1).map((value) => (value ? 'created' : 'deleted')))
    : field ? `${field} ${arrows(values.map((value) => value[field]))}` : 'written again', by === 'you' ? by : `${by}'s ${method}`].join(' · ');
}

/** How long the last correction of an object took, as text. */
export function took(id) {
  const history = histories.get(id);
  return lasted(history ? history.at - history.since : 0);
}

// The reason why an object waits, or its last change.
function noteOf(kind, name, cells) {
  const due = kind === 'Foo' ? (player.world.later.get(`default/${name}`) ?? 0) - Date.now() : 0;
  const has = (n) => (n === undefined ? 'none' : `replicas ${n}`);
  const [stored, replicas] = [has(state.store?.[name]), has(cells?.[1].split('/')[1])];
  if (kind === 'Deployment' && state.on.hold && stored !== replicas) {
    return `server: ${cells ? replicas : 'gone'} · the controller’s copy: ${stored}`;
  }
  if (due > 500) {
    return `next try in ${Math.ceil(due / 1000)} s`;
  }
  const history = histories.get(`${kind} ${name}`);
  // The result of an earlier action stays if it was a correction.
  return history && (history.values.length > 2 || history.at >= (action?.at ?? Infinity)) ? told(history) : '';
}

const rows = new Map();
function rowOf(id, width) {
  if (!rows.has(id)) {
    const [kind, name] = id.split(' ');
    const link = el('button', {type: 'button', class: 'link', onclick: () => choose.object(`${kind} default/${name}`)}, name);
    const row = el('tr', {translate: 'no'}, Array.from({length: width}, (_, i) => el('td', {}, i === 0 && link)));
    const note = el('td', {colspan: width});
    rows.set(id, {row, note, line: el('tr', {class: 'note'}, note), shown: ''});
  }
  return rows.get(id);
}

function lightUp({row, line}) {
  const [lit, dark] = [{backgroundColor: 'var(--lit)'}, {backgroundColor: 'transparent'}];
  for (const part of [row, line]) {
    part.animate(picture.still ? [lit, lit] : [lit, {...lit, offset: 0.4}, dark], picture.still ? 1000 : 2000);
  }
}

function draw() {
  tell();
  const [foo] = state.foos;
  const made = foo && state.deployments.find((cells) => cells[0] === foo[1] && cells[4] === `Foo ${foo[0]}`);
  say(byId('wanted'), foo?.[2] ?? '–');
  say(byId('there'), foo ? made?.[1].split('/')[0] ?? '0' : '–');
  byId('pair').classList.toggle('differs', byId('wanted').textContent !== byId('there').textContent);
  const changed = [];
  for (const [kind, table, width] of [['Foo', 'foos', 6], ['Deployment', 'deployments', 5]]) {
    const there = new Map(state[table].map((cells) => [cells[0], cells]));
    const gone = [...histories].filter(([id, history]) => id.startsWith(`${kind} `) && !history.values.at(-1)).map(([id]) => id.slice(kind.length + 1)).filter((name) => !there.has(name));
    const wanted = [...there.keys(), ...gone].flatMap((name) => {
      const shown = rowOf(`${kind} ${name}`, width);
      const cells = there.get(name);
      const note = noteOf(kind, name, cells);
      for (let i = 1; i < width; i++) {
        say(shown.row.cells[i], cells?.[i] ?? '–');
      }
      say(shown.note, note);
      shown.row.classList.toggle('gone', !cells);
      shown.line.hidden = !note;
      const text = `${cells} ${note.replace(/\d+ s$/, '')}`;
      if (shown.shown !== text) {
        shown.shown = text;
        changed.push(shown);
      }
      return [shown.row, shown.line];
    });
    const body = byId(table).tBodies[0];
    wanted.forEach((row, i) => row !== body.children[i] && body.insertBefore(row, body.children[i] ?? null));
    [...body.children].slice(wanted.length).forEach((row) => row.remove());
  }
  const lit = [...rows.values()].filter(({row}) => row.getAnimations().length > 0);
  if (new Set([...lit, ...changed]).size <= mostLit) {
    changed.forEach(lightUp);
  }
}

setInterval(draw, 200);

/** Takes the newest state. */
export function now(newest) {
  if (newest.at >= written) { // Else it is older than that write, and the next comes soon.
    state = newest;
    draw();
  }
}

// --- the result of an action ---

let action = null;

/** An action begins; earlier changes do not count. */
export function begin() {
  action = {text: '', at: Date.now(), of: new Map()};
  for (const [id, {values, at}] of histories) {
    if (!values.at(-1) && Date.now() - at > remembered && !state.on.hold) {
      histories.delete(id);
    }
  }
}

/** Forgets everything: the cluster is empty. */
export function forget() {
  histories.clear();
  rows.clear();
  action = null;
}

/** Describes an action that is no request. */
export function means(text) {
  if (action && !action.text && action.of.size === 0) {
    action.text = text.replace(/\.$/, '');
  }
}

function count({by, method, code, status}) {
  if (action) {
    const n = action.of.get(who(by)) ?? action.of.set(who(by), new Map()).get(who(by));
    const key = [status ? `status ${method}` : method, code >= 300 && `(${code})`].filter(Boolean).join('|');
    n.set(key, (n.get(key) ?? 0) + 1);
  }
}

// "1 DELETE by you, 1 POST and 2 status PUTs by the controller"
function tell() {
  const {text, of} = action ?? {text: 'The result of your action appears here', of: new Map()};
  const parts = [...of].map(([by, methods]) => `${[...methods].map(([method, n]) => {
    const [word, ...code] = method.split('|');
    return [counted(n, word), ...code].join(' ');
  }).join(', ').replace(/, ([^,]+)$/, ' and $1')} by ${by}`);
  say(byId('last'), [text, ...parts].filter(Boolean).join(', '));
}
