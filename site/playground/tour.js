// The guided tour: a task, a look whether the visitor has done it, and what that shows.

import {byId, el} from '../../internal/page/static/dom.js';
import {both} from './texts.js';

// Each Foo is Ready, and its Deployment is as it asks for.
const settled = ({foos, deployments}) => foos.length > 0 && foos.every(([foo, deployment, replicas, , ready]) => ready === 'True'
  && deployments.some(([name, pods, , , owner]) => name === deployment && pods === `${replicas}/${replicas}` && owner === `Foo ${foo}`));

// done is asked after each command and each change. did says whether a command with that
// beginning was carried out since the lesson began, saw whether a Foo ever had that reason.
const lessons = [
  {
    task: ['Create a second Foo, and wait until it is Ready.', '再创建一个 Foo，等它变为 Ready。'],
    done: ({state}) => state.foos.length > 1 && settled(state),
    shows: ['You asked for a Foo, and the controller sent one POST for its Deployment. The rest are PUTs of the status, one for each change that it has observed.', '你只要了一个 Foo，控制器就为它的 Deployment 发了一个 POST。其余都是 status 的 PUT，每观察到一次变化发一次。'],
    code: 'controller/foo.go',
  },
  {
    task: ['Scale a Deployment behind the controller’s back, to a number that its Foo does not ask for.', '背着控制器把 Deployment 伸缩到 Foo 没有要求的数目。'],
    done: ({state, did}) => did('scale-deployment') && settled(state),
    shows: ['The controller is not told what you did, only that something about this key has changed. It compares what is with what is asked for, and sends what differs: it is level-triggered.', '没有人告诉控制器你做了什么，它只知道这个 key 有变化。它比较现状与期望，只发送差异：这就是水平触发。'],
    code: 'controller/deployment.go',
  },
  {
    task: ['Delete a Deployment, and wait until it is back.', '删除 Deployment，等它回来。'],
    done: ({state, did}) => did('delete-deployment') && settled(state),
    shows: ['The watch of Deployments says that it is gone, and the handler turns it into the key of the Foo that controlled it. The reconcile finds none of that name and creates it.', 'Deployment 的 watch 说它没了，handler 把它变成控制它的 Foo 的 key。reconcile 发现没有这个名字的 Deployment，于是创建。'],
    code: 'controller/handlers.go',
  },
  {
    task: ['Give a Foo another name for its Deployment: change the field, then press “Give it the Deployment’s name”.', '给 Foo 换一个 Deployment 名：先改输入框，再按“改用此 Deployment 名”。'],
    done: ({state, did}) => did('rename') && settled(state) && state.foos.every(([name]) => state.deployments.filter((row) => row[4] === `Foo ${name}`).length === 1),
    shows: ['First the new Deployment is created, then the old one is deleted: the Foo is never without one. The old one is found by its owner’s UID, so a restart in between loses nothing.', '先创建新的 Deployment，再删除旧的：Foo 始终有一个。旧的按属主 UID 查找，所以中途重启也不会丢。'],
    code: 'controller/rename.go',
  },
  {
    task: ['Let two Foos want one name.', '让两个 Foo 想要同一个名字。'],
    done: ({saw}) => saw('NameTaken'),
    shows: ['The controller writes no Deployment that another owner controls, and says so in the status. It does not poll: when the name is free, that change wakes the Foo that waits for it.', '控制器从不改写别人控制的 Deployment，并在 status 里说明。它不轮询：名字空出来时，那个变化会唤醒等待的 Foo。'],
    code: 'controller/deployment.go',
  },
  {
    task: ['Delete a Deployment while creates are refused. Read the reason, and lift the quota.', '在拒绝创建时删除 Deployment。看看原因，然后取消配额。'],
    done: ({state, saw}) => saw('Forbidden') && !state.on.includes('quota') && settled(state),
    shows: ['What the server refuses is told in a condition, and tried again after a back-off that doubles. No event says that a quota was lifted; only the retry finds out.', '服务器的拒绝写进 condition，并在每次翻倍的退避之后重试。没有事件会说配额取消了，只有重试才能发现。'],
    code: 'controller/failures.go',
  },
  {
    task: ['Hold the watch of Deployments back, delete a Deployment, and see that nothing happens. Then let the watch go.', '扣住 Deployment 的 watch，删除一个 Deployment，看看什么也不发生。然后放开。'],
    done: ({state, did}) => did('hold on') && did('delete-deployment') && !state.on.includes('hold') && settled(state),
    shows: ['The reconcile reads its store, which still has the Deployment. It is always a little behind; what counts is that it is right in the end, and waits for its own writes to show.', 'reconcile 读的是缓存，缓存里还有那个 Deployment。缓存总是稍旧；重要的是最终正确，并且等到自己的写出现在缓存里。'],
    code: 'controller/readyourwrites.go',
  },
  {
    task: ['Start a second replica, kill the controller, and scale a Foo.', '启动第二个副本，杀掉控制器，再伸缩一个 Foo。'],
    done: ({state, did}) => did('start') && did('kill') && did('scale ') && settled(state) && state.replicas.some((name) => name.endsWith('leads')),
    shows: ['The second one waits until the Lease has expired. Then it lists everything anew and knows nothing of the first one: all that counts is in the objects.', '第二个副本等到 Lease 过期，然后重新 list。它对前一个一无所知：一切都在对象里。'],
    code: 'main.go',
  },
];

let at = 0;
let commands = [];
let reasons = new Set();

function show() {
  const {task, shows, code} = lessons[at];
  byId('tour').replaceChildren(
    el('h3', {}, `${at + 1} / ${lessons.length}`),
    el('p', {id: 'task'}, both(...task)),
    el('div', {id: 'shows', hidden: true},
      el('p', {class: 'did'}, both('You have done it.', '你做到了。')),
      el('p', {}, both(...shows)),
      el('p', {}, el('a', {href: `read/${code}.html`}, el('code', {}, code)))),
    el('p', {class: 'actions'},
      el('button', {type: 'button', id: 'earlier', disabled: at === 0, onclick: () => go(-1)}, both('Back', '上一课')),
      el('button', {type: 'button', id: 'later', disabled: at === lessons.length - 1, onclick: () => go(1)}, both('Next lesson', '下一课'))));
}

function go(by) {
  at += by;
  commands = [];
  reasons = new Set();
  show();
  byId('tour').focus();
}

/** Takes a command that was carried out. */
export function did(command) {
  commands.push(command);
}

/** Takes what is so now. */
export function now(state) {
  state.foos.forEach((row) => reasons.add(row[5]));
  const t = {state, did: (begins) => commands.some((command) => command.startsWith(begins)), saw: (reason) => reasons.has(reason)};
  if (byId('shows').hidden && lessons[at].done(t)) {
    byId('shows').hidden = false;
  }
}

show();
