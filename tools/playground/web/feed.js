// Replaces the page's feed.js: the steps of the program in this tab.

import {Feed as Live} from '../../../internal/observe/page/static/feed.js';
import {on} from './cluster.js';

export class Feed extends Live {
  connect() {
    this.mostWaiting = 64 << 20; // The program is local: its steps need no small limit.
    on('hello', (data) => {
      this.put('hello', {data});
      this.on.state('open');
    });
    on('news', (data) => this.put('news', {data}));
    on('gone', () => this.on.state('gone'));
  }
}
