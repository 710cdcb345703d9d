// The picture: a scene, and tokens that travel through it. A part lights up with each step. A token
// shows the steps of one object in order, in slow motion. If there are many objects, the picture shows
// a sample.

import {count, counted, say} from './dom.js';
import {captionOf, headlineOf, movesOf} from './moves.js';
import {fade, Scene} from './scene.js';
import {Token} from './token.js';

// How many objects travel at a time; the others only light up the parts.
const mostTokens = 24;
// The duration of a move in milliseconds, without and with a long backlog.
const slowest = 560;
const fastest = 100;
// A move this late is left out: else its object would fall further behind.
const latest = 10_000;
// How long a token stays after it arrived.
const rest = 1600;
// From this many tokens on, steps are not described one by one.
const crowded = 5;
// More steps a second than this are summarized, not described one by one.
const busy = 150;
// How long words stay, at least.
const least = 650;
// The time for words that were shown before.
const short = 120;

export class Picture {
  /** on: {part(id), object(subject)} */
  constructor(root, caption, on) {
    this.root = root;
    this.caption = caption;
    this.on = on;
    this.still = false;
    // One step at a time, each long enough to read, or short if it was shown before. The last words
    // stay.
    this.paced = false;
    this.read = new Set();
    // The words while nothing moves, instead of the last step.
    this.why = '';
    this.tokens = new Map();
    this.now = this.told = this.captionUntil = 0;
    this.said = this.next = null; // the current words, and the step to describe next
    this.rate = 0;
    this.lay('wide');
  }

  /** Draws the parts in that layout: 'wide' or 'narrow'. */
  lay(name) {
    this.scene = new Scene(this.root, name, this.on.part);
    this.tokens.clear();
  }

  /** Shows a step: its part lights up, and its object moves. */
  step(step) {
    const headline = headlineOf(step);
    this.again = this.paced && this.read.has(headline);
    this.read.add(headline);
    const moves = movesOf(step);
    if (moves.length === 0 || !this.travel(step, moves)) {
      this.lightUp(moves.length > 0 ? moves : [{to: step.part}]);
      if (this.paced || !this.crowded && !this.showing) {
        this.tell(step);
      }
    }
  }

  lightUp(moves) {
    for (const {from, to} of moves) {
      this.scene.shine(to);
      this.scene.shine(`${from}-${to}`);
    }
  }

  // Adds the moves to the object's token. Returns false if there are too many objects.
  travel(step, moves) {
    let token = this.tokens.get(step.subject);
    if (!token) {
      if (this.tokens.size >= mostTokens) {
        return false;
      }
      token = new Token(step.subject, () => this.on.object(step.subject));
      this.tokens.set(step.subject, token);
      if (!this.still) {
        this.scene.lane.append(token.element); // Else only the parts light up, one after the other.
      }
    }
    token.moves.push(...moves.map((move) => ({...move, step, since: performance.now()})));
    return true;
  }

  /** Removes all tokens: the page shows another moment. */
  clear() {
    this.tokens.clear();
    this.scene.lane.replaceChildren();
    this.captionUntil = this.now + least;
    this.next = null;
    this.read.clear();
  }

  /** Whether earlier steps are still being shown. */
  get showing() {
    return Boolean(this.next) || this.now - this.told < (this.again ? short : least) || [...this.tokens.values()].some(({current, moves}) => current || moves.length > 0);
  }

  /** When the oldest shown step happened, Infinity without one. */
  get oldest() {
    return Math.min(...[...this.tokens.values()].map(({current, moves}) => (current ?? moves[0])?.step.at ?? Infinity));
  }

  /** Whether more happens than eyes and words can follow. */
  get crowded() {
    return !this.paced && (this.rate > busy || this.tokens.size >= crowded);
  }

  /** Draws one frame. */
  frame(now) {
    const passed = Math.min(now - this.now, 100);
    this.now = now;
    for (const [subject, token] of this.tokens) {
      if (!this.move(token, now)) {
        token.element.remove();
        this.tokens.delete(subject);
      }
    }
    this.scene.dim(passed, this.still);
    if (this.next && now - this.told >= (this.paced ? 0 : least)) {
      [this.said, this.next, this.told, this.captionUntil] = [this.next, null, now, this.paced ? Infinity : now + 4000];
      this.caption.className = `caption tone-${this.said.meaning?.tone ?? ''}`;
      this.caption.replaceChildren(...captionOf(this.said));
    }
  }

  // Draws a frame of one token. Returns false when the token must be removed.
  move(token, now) {
    if (!token.current) {
      if (token.moves.length === 0) {
        const stays = this.crowded ? rest / 8 : rest;
        const age = now - token.arrived;
        token.opacity(age < stays ? 1 : Math.max(0, 1 - (age - stays) / fade));
        return age < stays + fade;
      }
      this.begin(token, now);
    }
    const {points, began, takes, to} = token.current;
    const part = Math.min(1, (now - began) / takes);
    token.opacity(1);
    if (points) {
      const eased = part < 0.5 ? 2 * part * part : 1 - 2 * (1 - part) * (1 - part);
      const {x, y} = points[Math.round((points.length - 1) * eased)];
      // In a crowd they travel side by side.
      const aside = this.crowded ? token.own * 26 - 13 : 0;
      token.place(x + aside, y - aside);
    }
    if (part === 1) {
      this.scene.shine(to);
      token.current = null;
      token.arrived = now;
    }
    return true;
  }

  // Whether to leave out the first of these moves. Merged keys go first.
  isLate(moves, now) {
    return now - moves[0].since > latest || moves[0].tone === 'merged' && moves.length > 4;
  }

  begin(token, now) {
    while (!this.paced && token.moves.length > 1 && this.isLate(token.moves, now)) {
      this.lightUp([token.moves.shift()]);
    }
    const move = token.moves.shift();
    const points = this.scene.edges[`${move.from}-${move.to}`];
    const takes = this.paced ? (this.again ? short : slowest) : Math.max(fastest, slowest * 4 / (4 + token.moves.length)) * (this.crowded ? 0.6 + token.own : 1);
    token.dress(move);
    this.scene.shine(`${move.from}-${move.to}`);
    if (move.from === 'server' && move.to === 'stream' && !move.step.echo) {
      // Another client wrote it.
      this.scene.shine('outside-server');
    }
    if (!points) {
      // It happens in place.
      const [x, y, width] = this.scene.layout.boxes[move.to];
      token.place(x + width / 2, y + 2);
    }
    token.current = {...move, points, began: now, takes};
    if (!this.crowded) {
      this.tell(move.step);
    }
  }

  /** Describes the step in words, after the current ones. A step with a meaning is not left out. */
  tell(step) {
    if (step !== this.said && (step.meaning || !this.next?.meaning)) {
      this.next = step;
    }
  }

  /** Summarizes when more happens than words can follow. */
  summarize(rate) {
    this.rate = rate;
    const many = this.crowded && rate > 1;
    const words = many ? `About ${count(Math.round(rate))} steps a second, more than one can draw. The lights and the numbers stand for all of them, the tokens for ${counted(this.tokens.size, 'object')}.`
      : this.why || 'Quiet. No event arrives, so nothing is sent.';
    if ((many || this.now > this.captionUntil || this.why && !this.showing) && words !== this.said && this.now - this.told >= least) {
      [this.said, this.told, this.captionUntil] = [words, this.now, this.now + (many ? 1500 : 0)];
      this.caption.className = many ? 'caption' : 'caption tone-quiet';
      say(this.caption, words);
    }
  }
}
