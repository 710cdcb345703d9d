// In the place of the page's feed.js: a recording, and nothing after it.

import {Feed as Live} from '../../internal/page/static/feed.js';
import recording from '../../internal/page/chain/chain.json';

export class Feed extends Live {
  connect() {
    const steps = recording.trim().split('\n');
    this.put('hello', {data: JSON.stringify({process: 'recording', recording: 'chain.json', outside: true})});
    this.put('news', {data: `{"kept": true, "steps": [${steps}]}`});
    this.on.state('open');
  }
}
