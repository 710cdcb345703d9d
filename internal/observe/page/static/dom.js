// The only place that creates elements. Texts of a step always become text, never markup.

const svgNamespace = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
  // append makes a text node of everything that is no node.
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An HTML element with attributes (on… is a listener) and children. */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** An SVG element, likewise. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(svgNamespace, name), attributes, children);
}

export const byId = (id) => document.getElementById(id);

/** Sets the text if it differs: a screen reader reads each change. */
export function say(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

const clockFormat = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3,
});

/** 15:49:08.543, in the browser's own time zone. */
export const clock = (milliseconds) => clockFormat.format(milliseconds);

const countFormat = new Intl.NumberFormat('en');

/** 1,234 */
export const count = (n) => countFormat.format(n);

/** "1 key", "2 keys", "2 watches" */
export const counted = (n, word, more = 's') => `${count(n)} ${word}${n === 1 ? '' : more}`;

/** A duration in milliseconds, for people. */
export function took(ms) {
  if (ms > 0 && ms < 1) {
    return `${Math.max(1, Math.round(ms * 1000))} µs`;
  }
  const tenths = (n) => Math.round(n * 10) / 10;
  return ms < 1000 ? `${ms < 10 ? tenths(ms) : Math.round(ms)} ms` : `${tenths(ms / 1000)} s`;
}

const filled = new WeakMap(); // the data that each element shows, as JSON

/** Replaces the children of an element if their data has changed. */
export function refill(element, of, children) {
  const text = JSON.stringify(of);
  if (filled.get(element) !== text) {
    element.replaceChildren(...children());
    filled.set(element, text);
  }
}
