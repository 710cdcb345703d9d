// In the place of the page's feed.js. A folder of files has no server to ask: the steps
// are in this script. They begin when the picture is in view, so that no reader misses them.

import {byId} from '../../internal/page/static/dom.js';
import recording from '../../internal/page/recording.json';

export class Feed {
  constructor(on) {
    this.on = on;
    this.seen = false;
    this.begun = false;
    new IntersectionObserver((entries, observer) => {
      if (entries.some((entry) => entry.isIntersecting)) {
        observer.disconnect();
        this.seen = true;
      }
    }).observe(byId('picture'));
  }

  /** Hands everything on, once. */
  read() {
    if (!this.seen || this.begun) {
      return;
    }
    this.begun = true;
    const steps = recording.trim().split('\n').map((line) => JSON.parse(line));
    this.on.state('open');
    this.on.hello({process: 'recording', recording: 'recording.json', kept: steps.length});
    this.on.steps(steps, {kept: true, bytes: recording.length});
  }
}
