// Receives the steps from /steps as server-sent events. The browser reconnects by itself, with the id
// of the last event.

// Unread events must not grow without limit, such as in a background tab.
const mostWaiting = 4 << 20;

export class Feed {
  /** on: {hello(data), steps(list, {kept}), state(text)} */
  constructor(on) {
    this.on = on;
    this.waiting = [];
    this.waitingBytes = 0;
    this.mostWaiting = mostWaiting;
    this.connect();
  }

  connect() {
    const source = new EventSource('steps');
    source.addEventListener('hello', (event) => this.put('hello', event));
    source.addEventListener('news', (event) => this.put('news', event));
    source.addEventListener('open', () => this.on.state('open'));
    source.addEventListener('error', () => this.on.state('gone'));
  }

  /** Calls run when the page shows everything before this call. */
  after(run) {
    this.waiting.push({type: 'mark', data: run});
  }

  put(type, event) {
    this.waiting.push({type, data: event.data});
    this.waitingBytes += event.data.length;
    if (document.hidden || this.waitingBytes > this.mostWaiting) {
      this.read(Infinity);
    }
  }

  /** Reads waiting events for at most so many milliseconds: a frame is short. */
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
        this.on.steps(message.steps ?? [], {kept: message.kept === true});
      }
    }
    this.waiting.splice(0, n);
  }
}
