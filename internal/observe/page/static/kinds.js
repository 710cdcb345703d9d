// How a kind is shown, whatever it is: by its letter and its color.

import {el} from './dom.js';

// The lesson's kinds keep the first colors of style.css, kind-0 and so on.
const lesson = ['Foo', 'Deployment', 'Project'];
const colours = 7;
const looks = new Map();

/** A stable number for a text, from 0 to 996. */
export const hash = (text) => [...text].reduce((n, c) => (n * 31 + c.codePointAt(0)) % 997, 7);

/** The kinds seen so far, in that order. */
export const kindsSeen = () => [...looks.keys()];

/** A kind's {letter, colour}, always the same. The color is a class. */
export function lookOf(kind) {
  if (!kind) {
    return {letter: '?', colour: ''};
  }
  if (!looks.has(kind)) {
    looks.set(kind, {letter: kind[0], colour: `kind-${colourOf(kind)}`});
  }
  return looks.get(kind);
}

/** The mark of a kind. */
export function chip(kind) {
  const {letter, colour} = lookOf(kind);
  return el('span', {class: `chip ${colour}`, title: kind}, letter);
}

// Derived from the name, so that it is the same each time.
const colourOf = (kind) => (lesson.includes(kind) ? lesson.indexOf(kind) : lesson.length + hash(kind) % (colours - lesson.length));
