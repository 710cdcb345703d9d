// What the playground says, in English and in Chinese.

import {el} from '../../internal/page/static/dom.js';

/** Both texts, of which the page shows one. */
export const both = (en, zh) => [el('span', {lang: 'en'}, en), el('span', {lang: 'zh-CN'}, zh)];

/** The buttons: the command, what it is called, and what one would tell kubectl. f is what the
 * fields hold: foo, deployment, replicas. */
export const actions = [
  {id: 'create', of: (f) => `create ${f.foo} ${f.deployment} ${f.replicas}`, name: ['Create the Foo', '创建 Foo'], kubectl: () => 'kubectl apply -f foo.yaml'},
  {id: 'scale', of: (f) => `scale ${f.foo} ${f.replicas}`, name: ['Scale the Foo', '伸缩 Foo'], kubectl: (f) => `kubectl scale foo ${f.foo} --replicas=${f.replicas}`},
  {id: 'rename', of: (f) => `rename ${f.foo} ${f.deployment}`, name: ['Give it the Deployment’s name', '改用此 Deployment 名'], kubectl: (f) => `kubectl patch foo ${f.foo} --type=merge -p '{"spec":{"deploymentName":"${f.deployment}"}}'`},
  ...['Background', 'Foreground', 'Orphan'].map((how, i) => ({
    id: `delete-${how}`, of: (f) => `delete ${f.foo} ${how}`,
    name: [['Delete the Foo', '删除 Foo'], ['… in the foreground', '… 前台删除'], ['… and orphan', '… 并遗留 Deployment']][i],
    kubectl: (f) => `kubectl delete foo ${f.foo} --cascade=${how.toLowerCase()}`,
  })),
  {id: 'delete-deployment', of: (f) => `delete-deployment ${f.deployment}`, name: ['Delete the Deployment', '删除 Deployment'], kubectl: (f) => `kubectl delete deployment ${f.deployment}`},
  {id: 'scale-deployment', of: (f) => `scale-deployment ${f.deployment} ${f.replicas}`, name: ['Scale the Deployment behind the controller’s back', '背着控制器伸缩 Deployment'], kubectl: (f) => `kubectl scale deployment ${f.deployment} --replicas=${f.replicas}`},
  {id: 'set-image', of: (f) => `set-image ${f.deployment} nginx:1.0`, name: ['Change its image', '更换镜像'], kubectl: (f) => `kubectl set image deployment/${f.deployment} nginx=nginx:1.0`},
  {id: 'take-name', of: (f) => `take-name ${f.deployment}`, name: ['Take the name: a Deployment of another owner', '抢占名字：别人的 Deployment'], kubectl: (f) => `kubectl create deployment ${f.deployment} --image=theirs:1`},
];

/** Bad luck that happens once. */
export const blows = [
  {id: 'cut', name: ['Cut the watches', '切断 watch'], means: ['The connections break, as when a proxy restarts. Each Reflector watches again from the version that it has seen last.', '连接断开，就像代理重启。每个 Reflector 从它见过的最后版本继续 watch。']},
  {id: 'forget', name: ['Forget the history', '忘掉历史'], means: ['The server no longer knows the versions since the watches broke: 410 Gone, and the Reflectors list again.', '服务器不再知道断开之后的版本：410 Gone，Reflector 重新 list。']},
  {id: 'kill', name: ['Kill the controller', '杀掉控制器'], means: ['The process that the picture shows sends and hears nothing more. Its Lease stays until it expires.', '图中的进程不再收发任何请求。它的 Lease 直到过期才让出。']},
  {id: 'start', name: ['Start a replica', '启动一个副本'], means: ['The first one starts the controller again. A second one stands by, and takes over when the leader is gone.', '没有副本时重新启动控制器；第二个副本待命，领导者消失后接管。']},
];

/** Bad luck that stays until it is turned off. */
export const switches = [
  {id: 'hold', name: ['Hold the watch of Deployments back', '扣住 Deployment 的 watch'], means: ['The store shows an older state, as behind a slow network. Nothing is lost.', '缓存停在旧状态，像网络很慢时。什么也不会丢。']},
  {id: 'quota', name: ['Refuse creates', '拒绝创建'], means: ['A quota is used up: each POST of a Deployment is 403 Forbidden.', '配额用尽：每次创建 Deployment 都是 403 Forbidden。']},
  {id: 'webhook', name: ['A webhook is down', 'webhook 挂了'], means: ['What the server asks before each write of a Deployment does not answer: 500.', '服务器在写 Deployment 之前要询问的程序没有回应：500。']},
  {id: 'lose', name: ['Answers get lost', '应答丢失'], means: ['Each write takes effect, and the connection breaks before the answer.', '每次写都生效了，但在应答之前连接断开。']},
  {id: 'busy', name: ['Another client writes all the time', '另一个客户端不停地写'], means: ['A client annotates each Deployment several times a second: versions move on, and writes meet 409 Conflict.', '有人每秒多次给每个 Deployment 加注解：版本不断前进，写请求遇到 409 Conflict。']},
  {id: 'slow', name: ['A slow API server', 'API server 很慢'], means: ['Each answer takes a second longer.', '每个应答多花一秒。']},
];

/** The columns of kubectl get foo,deployment. */
export const columns = {
  foos: ['Name', 'Deployment', 'Replicas', 'Available', 'Ready', 'Reason'],
  deployments: ['Name', 'Ready', 'Available', 'Image', 'Controlled by'],
};

/** What can be wrong with the program: the bugs of internal/playground. Each says what it does,
 * which scenario of the judge catches it, and which file of the core does it right. */
export const bugs = [
  {id: 'none', means: ['As it stands in this repository.', '与本仓库中的代码一致。']},
  {id: 'deaf-to-deletion', means: ['It does not hear that a Deployment is deleted.', '听不到 Deployment 被删除。'], judge: 'deployment-deleted', code: 'controller/handlers.go'},
  {id: 'deaf-to-names', means: ['It does not hear that a name which a Foo waits for is free.', '听不到 Foo 等待的名字已经空出。'], judge: 'name-freed', code: 'informer/foo.go'},
  {id: 'no-retry', means: ['It does not try again what has failed.', '失败之后不再重试。'], judge: 'rights-taken', code: 'controller/queue.go'},
  {id: 'no-owner', means: ['It creates the Deployment without an owner reference.', '创建 Deployment 时不写属主引用。'], judge: 'deleted-background', code: 'controller/deployment.go'},
  {id: 'exits-on-5xx', means: ['It ends when the server answers 500.', '服务器返回 500 时就退出。'], judge: 'webhook-down', code: 'controller/controller.go'},
];
