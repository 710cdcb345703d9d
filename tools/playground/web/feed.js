// In the place of the page's feed.js: first a recording, and the steps of the program in this tab
// as soon as it runs.

import {Feed as Live} from '../../../internal/observe/page/static/feed.js';
import recording from '../../../internal/observe/page/recording.json';
import {on} from './cluster.js';

export class Feed extends Live {
  connect() {
    this.mostWaiting = 64 << 20; // The program is as near as can be: no frame waits for its steps.
    const steps = recording.trim().split('\n');
    this.put('hello', {data: JSON.stringify({process: 'recording', recording: 'recording.json'})});
    this.put('news', {data: `{"kept": true, "steps": [${steps}]}`});
    this.on.state('open');
    on('hello', (data) => {
      this.put('hello', {data});
      this.on.state('open');
    });
    on('news', (data) => this.put('news', {data}));
    on('gone', () => this.on.state('gone'));
  }
}
