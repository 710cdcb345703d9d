// The parts of the picture: what each does, where its code is, and its place.

/** Whether only the program's requests can be seen. */
export const view = {outside: false};

/** The parts that cannot be seen then. */
export const isInside = (id) => view.outside && ['store', 'handler', 'queue', 'worker', 'reconcile'].includes(id);

/** The parts, in the order in which an object travels through them. */
export const parts = [
  {
    id: 'server',
    name: 'API server',
    folder: 'not in this repository',
    about: [
      'The only part that remembers. It keeps each object in etcd, gives every change a new resourceVersion, and tells each client that watches.',
      'Programs do not talk to each other: kubectl, this controller and the Deployment controller meet only in the objects that they write.',
    ],
    where: [['config/crd/foos.samplecontroller.k8s.io.yaml', ''], ['api/samplecontroller.k8s.io/v1alpha1/types.go', 'Foo']],
  },
  {
    id: 'stream',
    name: 'List and watch',
    folder: 'informer/',
    about: [
      'A Reflector lists all objects of a kind once. Then it keeps one request open, on which the server sends each change: a watch. A recent server sends the list as the first part of the watch, and a BOOKMARK after it. Everything passes through a FIFO (first in, first out).',
      'A watch ends after some minutes, or the connection breaks. Then the Reflector watches again from the last resourceVersion that it has seen, without a list. If the server refuses that, most often because it no longer has that version, the Reflector lists again: a relist.',
    ],
    where: [['informer/foo.go', 'NewFoos'], ['informer/deployment.go', 'NewDeployments'], ['informer/informer.go', 'Informer.Run']],
  },
  {
    id: 'store',
    name: 'Store',
    folder: 'informer/',
    about: [
      'The objects in memory, as the watch last showed them. Reconciles read here, so one that changes nothing costs no request.',
      'It is always a little behind the server. Its objects are shared: copy one before you change it.',
    ],
    where: [['informer/informer.go', 'Informer'], ['informer/foo.go', 'FooIndexers'], ['informer/deployment.go', 'DeploymentIndexers']],
  },
  {
    id: 'handler',
    name: 'Handler',
    folder: 'controller/',
    about: [
      'Called after the store has changed. It turns an object into the key of the Foo to reconcile, its namespace and name. The rest would be out of date by the time the key is used.',
      'An update of a Deployment leads to the Foo that controls it and to each Foo that names it, before and after the change: often the same key four times. Every ten minutes the handler is called for each object in the store, without a request: a resync.',
    ],
    where: [['controller/handlers.go', 'EnqueueObject'], ['controller/handlers.go', 'EnqueueOwner']],
  },
  {
    id: 'queue',
    name: 'Queue',
    folder: 'controller/',
    about: [
      'Keys that wait for a worker, a goroutine that reconciles them. A key that waits is not added a second time: ten changes of one object become one reconcile.',
      'A key that is added while a worker has it comes back when that worker is done, so two workers never have the same key. After an error it comes back later, each time twice as late.',
      'Keys that a change has added come first. What the first list, a relist, a resync, a retry or a wait for the store adds waits behind them.',
    ],
    where: [['controller/queue.go', 'Queue'], ['controller/priority.go', 'lanes']],
  },
  {
    id: 'worker',
    name: 'Workers',
    folder: 'controller/',
    about: [
      'A few of them, each in a loop: take a key, reconcile it, give it back.',
      'Decides which keys to retry, and when.',
    ],
    where: [['controller/controller.go', 'Controller.runWorker'], ['controller/controller.go', 'Controller.process']],
  },
  {
    id: 'reconcile',
    name: 'Reconcile',
    folder: 'controller/',
    about: [
      'Compares the current state with the desired state and sends what differs. It does not know which event added the key, and need not.',
      'If nothing differs it sends nothing. If the store does not show its own last write yet, it waits for that.',
    ],
    where: [['controller/foo/reconcile.go', 'Reconciler.Reconcile'], ['controller/readyourwrites.go', 'PendingWrites.Observed']],
  },
  {
    id: 'request',
    name: 'REST client',
    folder: 'clientset/',
    about: [
      'One method for each verb, one URL for each method. A write carries the resourceVersion that it was made from. If the object has changed since, the server refuses it with 409 Conflict. A POST of a name that is taken is 409, too: AlreadyExists.',
      'What is written comes back through the watch, as an event like any other.',
    ],
    where: [['clientset/foo.go', 'foos.UpdateStatus'], ['clientset/clientset.go', 'NewForConfig']],
  },
];

export const partById = Object.fromEntries(parts.map((part) => [part.id, part]));

/** The name of a step's part. */
export const partName = (id) => partById[id]?.name ?? 'Program';

const wide = {
  width: 860,
  height: 548,
  boxes: {
    server: [20, 46, 820, 70],
    stream: [20, 178, 216, 78],
    store: [20, 300, 216, 78],
    handler: [20, 422, 216, 78],
    queue: [322, 422, 216, 78],
    worker: [624, 422, 216, 78],
    reconcile: [624, 300, 216, 78],
    request: [624, 178, 216, 78],
  },
  edges: {
    'server-stream': {d: 'M128 116V178', label: 'LIST, then WATCH', at: [142, 152]},
    'stream-store': {d: 'M128 256V300'},
    'store-handler': {d: 'M128 378V422'},
    'handler-queue': {d: 'M236 461H322', label: 'key', at: [277, 451, 'middle']},
    'queue-worker': {d: 'M538 461H624', label: 'key', at: [579, 451, 'middle']},
    'worker-reconcile': {d: 'M732 422V378'},
    'reconcile-request': {d: 'M732 300V256'},
    'request-server': {d: 'M732 178V116', label: 'POST, PUT, DELETE', at: [718, 152, 'end']},
    'worker-queue': {d: 'M732 500V514Q732 526 720 526H442Q430 526 430 514V500', label: 'retry later', at: [581, 518, 'middle'], quiet: true},
    'store-reconcile': {d: 'M236 356H624', label: 'reads', at: [430, 348, 'middle'], quiet: true},
    'outside-server': {d: 'M430 16V46', label: 'kubectl, the garbage collector, other clients', at: [466, 32]},
  },
};

// Without numbers and words, which the tables show.
const narrow = {
  width: 380,
  height: 246,
  boxes: {
    server: [8, 18, 364, 38],
    stream: [8, 78, 116, 38],
    store: [8, 138, 116, 38],
    handler: [8, 198, 116, 38],
    queue: [142, 198, 96, 38],
    worker: [256, 198, 116, 38],
    reconcile: [256, 138, 116, 38],
    request: [256, 78, 116, 38],
  },
  edges: {
    'server-stream': {d: 'M66 56V78'},
    'stream-store': {d: 'M66 116V138'},
    'store-handler': {d: 'M66 176V198'},
    'handler-queue': {d: 'M124 217H142'},
    'queue-worker': {d: 'M238 217H256'},
    'worker-reconcile': {d: 'M314 198V176'},
    'reconcile-request': {d: 'M314 138V116'},
    'request-server': {d: 'M314 78V56'},
    'worker-queue': {d: 'M270 236V242H190V236', quiet: true},
    'store-reconcile': {d: 'M124 157H256', quiet: true},
    'outside-server': {d: 'M190 2V18'},
  },
};

export const layouts = {wide, narrow};
