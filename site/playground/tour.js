// The guided tour: whether the visitor has done what each lesson of the page asks for.

import {byId, say} from '../../internal/page/static/dom.js';

// Each Foo is Ready, and its Deployment is as it asks for. One whose name is taken can be neither.
const settled = ({foos, deployments}) => foos.some((row) => row[5] !== 'NameTaken') && foos.every(([foo, deployment, replicas, , ready, reason]) => reason === 'NameTaken'
  || ready === 'True' && deployments.some(([name, pods, , , owner]) => name === deployment && pods === `${replicas}/${replicas}` && owner === `Foo ${foo}`));

// Asked after each command and each change, in the order of the page. did says whether commands
// with these beginnings were carried out since the lesson began, in this order, saw whether a Foo
// ever had that reason, and back whether the Deployment that was deleted last is a Foo's.
const done = [
  ({state}) => state.foos.filter((row) => row[4] === 'True').length > 1 && settled(state),
  ({state, did}) => did('scale-deployment') && settled(state),
  ({state, back}) => back() && settled(state),
  ({state, did}) => did('rename') && settled(state) && state.foos.every(([name]) => state.deployments.filter((row) => row[4] === `Foo ${name}`).length === 1),
  ({state, did, saw}) => saw('NameTaken') && did('delete ') && state.foos.every((row) => row[5] !== 'NameTaken') && settled(state),
  ({state, saw}) => saw('Forbidden') && !state.on.quota && settled(state),
  ({state, did}) => did('hold on', 'delete-deployment', 'hold off') && settled(state),
  ({state, did}) => did('start') && did('kill', 'scale ') && settled(state) && state.replicas.some(([name]) => name.endsWith('leads')),
];

const lessons = byId('tour').children;
// A reload keeps them.
let {at, finished} = history.state ?? {at: 0, finished: []};
let commands = [];
let reasons = new Set();

const keep = () => history.replaceState({at, finished}, '');

function go(by) {
  lessons[at].hidden = true;
  at += by;
  keep();
  commands = [];
  reasons = new Set();
  lessons[at].hidden = false;
  lessons[at].lastElementChild.hidden = byId('did').hidden = !finished[at];
  say(byId('nth'), `${at + 1} / ${done.length}`);
  byId('earlier').disabled = at === 0;
  byId('later').disabled = at === done.length - 1;
  if (by) {
    byId('tour').focus({preventScroll: true});
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
  const did = (...begins) => {
    let from = 0;
    return begins.every((begin) => {
      from = commands.findIndex((command, n) => n >= from && command.startsWith(begin)) + 1;
      return from > 0;
    });
  };
  const deleted = commands.findLast((command) => command.startsWith('delete-deployment'))?.split(' ')[1];
  const back = () => state.deployments.some(([name, , , , owner]) => name === deleted && owner);
  if (!finished[at] && done[at]({state, did, back, saw: (reason) => reasons.has(reason)})) {
    finished[at] = true;
    keep();
    lessons[at].lastElementChild.hidden = byId('did').hidden = false;
  }
}

go(0);
