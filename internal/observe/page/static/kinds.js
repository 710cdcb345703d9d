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
    looks.set(kind, {letter: letterOf(kind), colour: `kind-${colourOf(kind)}`});
  }
  return looks.get(kind);
}

/** The mark of a kind. */
export function chip(kind) {
  const {letter, colour} = lookOf(kind);
  return el('span', {class: `chip ${colour}`, title: kind}, letter);
}

// The first letter, and the next one that differs from other kinds with that letter.
function letterOf(kind) {
  const others = [...looks].filter(([other]) => other[0] === kind[0]);
  const next = [...kind].find((c, i) => i > 0 && others.every(([other, {letter}]) => other[i] !== c && letter !== kind[0] + c));
  return others.length === 0 ? kind[0] : next ? kind[0] + next : kind;
}

// Derived from the name, so that it is the same each time. A used color is reused only when all are
// used.
function colourOf(kind) {
  if (lesson.includes(kind)) {
    return lesson.indexOf(kind);
  }
  const others = colours - lesson.length;
  const wanted = Array.from({length: others}, (_, i) => lesson.length + (hash(kind) + i) % others);
  const taken = new Set([...looks.values()].map(({colour}) => colour));
  return wanted.find((n) => !taken.has(`kind-${n}`)) ?? wanted[0];
}
