// The Worker of the playground, behind Go's wasm_exec.js. The program comes in parts, is
// unpacked and compiled while they come, and then takes commands. See tools/playground/lab/tab.

const go = new Go();
let coming;
// Without one of its parts it cannot be unpacked: what comes after that is for nobody.
const packed = new ReadableStream({start(controller) { coming = controller; }, cancel() { coming = undefined; }});

onmessage = ({data}) => {
  if (data.command) {
    byhandDo(data.command);
    return;
  }
  const text = atob(data.part), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) { // Uint8Array.from, which iterates, took a third of the start.
    bytes[i] = text.charCodeAt(i);
  }
  coming?.enqueue(bytes);
  if (data.last) {
    coming?.close();
  }
};

const program = new Response(packed.pipeThrough(new DecompressionStream('gzip')), {headers: {'Content-Type': 'application/wasm'}});
WebAssembly.instantiateStreaming(program, go.importObject)
  .then(({instance}) => go.run(instance))
  .then(() => postMessage(['failed', '"the program has ended"']))
  .catch((error) => postMessage(['failed', JSON.stringify(String(error))]));
