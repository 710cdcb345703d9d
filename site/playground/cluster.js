// The cluster in this tab: a Worker with the program, which comes in parts. It asks for no
// other file, and no other host.

const listeners = {};
let worker = null;

/** Calls listener with the text of each message of a kind: see playground.Tell. 'progress' has
 * the part that is here, from 0 to 1, and 'failed' says why there is no cluster. */
export function on(kind, listener) {
  (listeners[kind] ??= []).push(listener);
}

function tell(kind, text) {
  (listeners[kind] ?? []).forEach((listener) => listener(text));
}

/** Sends a command: see playground.Do. */
export function send(command) {
  worker?.postMessage({command});
}

// A script that calls byhandPart, as each part of the program does.
function load(file) {
  return new Promise((loaded, failed) => {
    const script = document.createElement('script');
    script.src = file;
    script.onload = () => loaded(script.remove());
    script.onerror = () => failed(new Error(`${file} is not there`));
    document.head.append(script);
  });
}

/** Loads the program and starts it. */
export async function start() {
  try {
    if (!globalThis.WebAssembly?.instantiateStreaming || !globalThis.DecompressionStream) {
      throw new Error('WebAssembly');
    }
    const code = URL.createObjectURL(new Blob([workerCode], {type: 'text/javascript'}));
    worker = new Worker(code);
    worker.onmessage = ({data: [kind, text]}) => tell(kind, text);
    worker.onerror = (event) => tell('failed', JSON.stringify(event.message));
    globalThis.byhandPart = (part) => worker.postMessage({part});
    for (let n = 0; n < parts; n++) {
      await load(`playground/part${n}.js`);
      tell('progress', (n + 1) / parts);
    }
    worker.postMessage({end: true});
    performance.mark('loaded');
  } catch (error) {
    tell('failed', JSON.stringify(error.message));
  }
}
