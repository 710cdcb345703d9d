// The Worker of the playground, after Go's wasm_exec.js. It decompresses and compiles the program while
// its parts arrive, and then takes commands. See tools/playground/lab/tab.

const go = new Go();
let coming;
// Without one of its parts the program cannot be decompressed: later parts are dropped.
const packed = new ReadableStream({start(controller) { coming = controller; }, cancel() { coming = undefined; }});

onmessage = ({data}) => {
  if (data.command) {
    byhandDo(data.command);
    return;
  }
  const text = atob(data.part), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) { // Uint8Array.from iterates, which took a third of the start.
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
