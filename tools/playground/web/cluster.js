// The cluster in this tab: a Worker with the program, which is loaded in parts. It loads no other file,
// and contacts no other host.

// The cluster is at rest after so many milliseconds without a change.
const quiet = 1000;

const listeners = {};
let changed = 0; // when anything last changed

/** Calls listener with the text of each message of a kind: see lab.Tell. 'progress' has the loaded
 * share, from 0 to 1, and 'failed' the reason why there is no cluster. */
export function on(kind, listener) {
  (listeners[kind] ??= []).push(listener);
}

function tell(kind, text) {
  if (kind === 'write' || kind === 'state') {
    changed = Date.now();
  }
  listeners[kind]?.forEach((listener) => listener(text));
}

const worker = new Worker(URL.createObjectURL(new Blob([workerCode], {type: 'text/javascript'})));
worker.onmessage = ({data: [kind, text]}) => tell(kind, text);
worker.onerror = ({message}) => tell('failed', JSON.stringify(message));

// Each part is a script that calls byhandPart. They run one after the other, so that the progress is
// true, but two are always loading.
let asked = 0, here = 0;
function askForPart() {
  if (asked < parts) {
    const script = document.createElement('script');
    script.src = `playground/part${asked++}.js`;
    script.async = false; // They run in this order.
    script.onerror = () => tell('failed', JSON.stringify(`${script.getAttribute('src')} is missing`));
    document.head.append(script);
  }
}
globalThis.byhandPart = (part) => {
  worker.postMessage({part, last: ++here === parts});
  tell('progress', here / parts);
  askForPart();
};
askForPart();
askForPart();

// Commands are answered in order.
const unanswered = [];
on('said', (text) => JSON.parse(text).command && unanswered.shift()?.());

/** Sends a command, see Playground.Do. Resolves when it is answered. */
export const ask = (command) => new Promise((answered) => {
  sent = Date.now();
  unanswered.push(answered);
  worker.postMessage({command});
});

let sent = 0;
let newest = {at: 0};
on('state', (text) => { newest = JSON.parse(text); });

// Whether the cluster matches the Foos, as far as a controller can see.
function atRest({at, foos, deployments, replicas, on: switches}) {
  const isReady = ([, name, wants, , ready]) => (ready === 'True' || switches.hold) && deployments.every(([other, are]) => other !== name || are === `${wants}/${wants}`);
  return at >= sent && deployments.every(([, are]) => are.split('/')[0] === are.split('/')[1])
    && (replicas.length === 0 || replicas.some((text) => text.endsWith('leads')) && foos.every(isReady));
}

/** Resolves when the cluster is at rest, or after so many milliseconds. */
export async function settled(longest) {
  const since = Date.now();
  do {
    await new Promise((passed) => { setTimeout(passed, 100); });
  } while (Date.now() - since < longest && (Date.now() - Math.max(changed, since) < quiet || !atRest(newest)));
}
