// A token that travels: an object, a key, or a request and its response. The caption names its object.

import {say, svg} from './dom.js';
import {hash} from './kinds.js';

export class Token {
  constructor(subject, choose) {
    this.moves = [];
    this.current = null;
    this.arrived = 0;
    // A number from 0 to 1, fixed for the subject: its offset in a crowd, and its pace.
    this.own = hash(subject) / 996;
    this.shape = svg('rect', {class: 'token-shape', y: -12, height: 24});
    this.letter = svg('text', {class: 'token-letter', 'text-anchor': 'middle', y: 4.5});
    this.cross = svg('path', {class: 'token-cross', d: 'M-9 -9L9 9M9 -9L-9 9', opacity: 0});
    this.element = svg('g', {class: 'token', onclick: choose}, this.shape, this.letter, this.cross);
  }

  /** Takes the look of a move. */
  dress({form, colour, letter, tone, gone}) {
    const width = {object: 18 + 8 * letter.length, key: 36, wire: letter.length > 4 ? 58 : 44}[form];
    this.element.setAttribute('class', `token ${form} ${colour} tone-${tone || 'plain'}`);
    this.shape.setAttribute('x', -width / 2);
    this.shape.setAttribute('width', width);
    this.shape.setAttribute('rx', {object: 6, key: 12, wire: 3}[form]);
    this.cross.setAttribute('opacity', gone ? 1 : 0);
    say(this.letter, letter);
  }

  place(x, y) {
    this.element.setAttribute('transform', `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
  }

  opacity(value) {
    if (this.shownOpacity !== value) {
      this.shownOpacity = value;
      this.element.setAttribute('opacity', value.toFixed(2));
    }
  }
}
