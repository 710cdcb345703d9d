// In the place of the page's feed.js: first the recording, as on the first page, and the steps
// of the program in this tab as soon as it runs.

import {Feed as Live} from '../../internal/page/static/feed.js';
import {Feed as Recorded} from '../picture/feed.js';
import {on} from './cluster.js';

export class Feed extends Live {
  connect() {
    this.mostWaiting = 64 << 20; // The program is as near as can be: no frame waits for its steps.
    this.recorded = new Recorded(this.on);
    on('hello', (data) => {
      this.recorded = null;
      this.put('hello', {data});
      this.on.state('open');
    });
    on('news', (data) => this.put('news', {data}));
    on('gone', () => this.on.state('gone'));
  }

  read(budget) {
    this.recorded?.read();
    super.read(budget);
  }
}
