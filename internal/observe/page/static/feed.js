// The steps as they come from /steps: server-sent events. The browser connects
// again by itself, with the id of the last event that it has seen; what it gives
// up on is begun anew here.

const tryAgain = 2000;
// What waits to be read may not grow without end, such as in a tab in the background.
const mostWaiting = 4 << 20;

export class Feed {
  /** on: {hello(data), steps(list, {kept, bytes}), state(text)} */
  constructor(on) {
    this.on = on;
    this.waiting = [];
    this.waitingBytes = 0;
    this.mostWaiting = mostWaiting;
    this.lastId = '';
    this.connect();
  }

  connect() {
    const after = this.lastId ? `?after=${encodeURIComponent(this.lastId)}` : '';
    const source = new EventSource(`steps${after}`);
    source.addEventListener('hello', (event) => this.put('hello', event));
    source.addEventListener('news', (event) => this.put('news', event));
    source.addEventListener('open', () => this.on.state('open'));
    source.addEventListener('error', () => {
      this.on.state('gone');
      // Closed: an answer that is no stream, such as "16 browsers read already".
      if (source.readyState === EventSource.CLOSED) {
        setTimeout(() => this.connect(), tryAgain);
      }
    });
  }

  /** Calls run when the page shows what came before. */
  after(run) {
    this.waiting.push({type: 'mark', data: run});
  }

  put(type, event) {
    this.lastId = event.lastEventId || this.lastId;
    this.waiting.push({type, data: event.data});
    this.waitingBytes += event.data.length;
    if (document.hidden || this.waitingBytes > this.mostWaiting) {
      this.read(Infinity);
    }
  }

  /** Reads what has come, for at most so many milliseconds: a frame is short. */
  read(budget) {
    const end = performance.now() + budget;
    let n = 0;
    for (; n < this.waiting.length && performance.now() < end; n++) {
      const {type, data} = this.waiting[n];
      if (type === 'mark') {
        this.on.mark(data);
        continue;
      }
      this.waitingBytes -= data.length;
      const message = JSON.parse(data);
      if (type === 'hello') {
        this.on.hello(message);
      } else {
        this.on.steps(message.steps ?? [], {kept: message.kept === true, bytes: data.length});
      }
    }
    this.waiting.splice(0, n);
  }
}
