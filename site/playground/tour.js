// The guided tour: whether the visitor has done what each lesson of the page asks for.

import {byId, say} from '../../internal/page/static/dom.js';

// Each Foo is Ready, and its Deployment is as it asks for.
const settled = ({foos, deployments}) => foos.length > 0 && foos.every(([foo, deployment, replicas, , ready]) => ready === 'True'
  && deployments.some(([name, pods, , , owner]) => name === deployment && pods === `${replicas}/${replicas}` && owner === `Foo ${foo}`));

// Asked after each command and each change, in the order of the page. did says whether a command
// with that beginning was carried out since the lesson began, saw whether a Foo ever had that reason.
const done = [
  ({state}) => state.foos.length > 1 && settled(state),
  ({state, did}) => did('scale-deployment') && settled(state),
  ({state, did}) => did('delete-deployment') && settled(state),
  ({state, did}) => did('rename') && settled(state) && state.foos.every(([name]) => state.deployments.filter((row) => row[4] === `Foo ${name}`).length === 1),
  ({saw}) => saw('NameTaken'),
  ({state, saw}) => saw('Forbidden') && !state.on.includes('quota') && settled(state),
  ({state, did}) => did('hold on') && did('delete-deployment') && !state.on.includes('hold') && settled(state),
  ({state, did}) => did('start') && did('kill') && did('scale ') && settled(state) && state.replicas.some(([name]) => name.endsWith('leads')),
];

const lessons = byId('tour').children;
let at = 0;
let commands = [];
let reasons = new Set();

function go(by) {
  lessons[at].hidden = true;
  at += by;
  commands = [];
  reasons = new Set();
  lessons[at].hidden = false;
  lessons[at].lastElementChild.hidden = byId('did').hidden = true;
  say(byId('nth'), `${at + 1} / ${done.length}`);
  byId('earlier').disabled = at === 0;
  byId('later').disabled = at === done.length - 1;
  if (by) {
    byId('tour').focus();
  }
}

byId('earlier').addEventListener('click', () => go(-1));
byId('later').addEventListener('click', () => go(1));

/** Takes a command that was carried out. */
export function did(command) {
  commands.push(command);
}

/** Takes what is so now. */
export function now(state) {
  state.foos.forEach((row) => reasons.add(row[5]));
  const t = {state, did: (begins) => commands.some((command) => command.startsWith(begins)), saw: (reason) => reasons.has(reason)};
  if (byId('did').hidden && done[at](t)) {
    lessons[at].lastElementChild.hidden = byId('did').hidden = false;
  }
}

go(0);
