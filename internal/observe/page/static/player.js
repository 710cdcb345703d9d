// Where in time the page is. Live is the newest step; paused stays where it is,
// while newer steps are kept; playing goes on at a speed of its own. At a speed slower
// than life it waits for the picture, so that all of the page shows the same step.

import {World} from './world.js';

// Where nothing happens, a person does not want to wait: no pause is longer, in milliseconds.
const longestPause = 1200;
// Slower than life, each step of an object is seen for at least so long, times how much
// slower.
const shortestPause = 40;

export class Player {
  /** on: {step(step), showing(), reached(step), moved(), mode(mode), attempt(step, show)} */
  constructor(history, on) {
    this.history = history;
    this.on = on;
    this.slower = 1;
    this.mode = 'live';
    this.ends = false; // as a recording does
    // Live, whether the picture shows a step. Then each one that it shows is seen to its end before
    // the next. Without it all steps are shown as they come.
    this.film = null;
    this.marks = [];
    this.clear();
    // What is no longer kept stays counted.
    history.trimmed = (gone) => {
      for (const step of gone) {
        this.apply(this.base, step);
      }
      if (this.position < history.first) {
        this.world = this.base.copy();
        this.position = history.first;
        this.on.moved();
      }
    };
  }

  clear() {
    this.base = new World();
    this.world = new World();
    this.position = this.reached = this.history.end;
    this.due = 0;
    this.marks.splice(0).forEach(({run}) => run());
  }

  /** Calls run when everything that has come so far is shown. */
  after(run) {
    this.marks.push({n: this.history.end, run});
  }

  // Reports the steps that have been seen to their end, once each, and calls what waits for them. It
  // says false if the picture is not ready for the next.
  reach() {
    for (;;) {
      if (this.film && this.on.showing()) {
        return false;
      }
      if (this.marks[0]?.n <= this.reached) {
        this.marks.shift().run();
      } else if (this.reached < this.position) {
        this.reached = Math.max(this.reached, this.history.first);
        const step = this.history.at(this.reached++);
        this.on.attempt(step, () => this.on.reached(step));
      } else {
        return true;
      }
    }
  }

  apply(world, step) {
    this.on.attempt(step, () => world.apply(step));
  }

  /** Goes on in that mode: 'live', 'paused' or 'playing'. */
  set(mode) {
    if (this.mode !== mode) {
      this.mode = mode;
      this.due = 0;
      this.on.mode(mode);
    }
  }

  /** Goes to the newest step, and on with what comes. */
  live() {
    this.seek(this.history.end);
    this.set('live');
  }

  /** Replays what happened in the last so many milliseconds. */
  replay(milliseconds) {
    this.seek(this.history.firstOfLast(milliseconds));
    this.set('playing');
  }

  /** Goes to the moment before the step with that number. */
  seek(n) {
    n = Math.min(Math.max(n, this.history.first), this.history.end);
    if (n < this.position) {
      this.world = this.base.copy();
      this.position = this.history.first;
    }
    while (this.position < n) {
      this.apply(this.world, this.history.at(this.position++));
    }
    this.due = 0;
    this.on.moved();
  }

  step() {
    this.set('paused');
    this.next(true);
  }

  next(animate) {
    if (this.position >= this.history.end) {
      return false;
    }
    const step = this.history.at(this.position++);
    this.apply(this.world, step);
    if (animate) {
      this.on.attempt(step, () => this.on.step(step));
    }
    return true;
  }

  /** Goes on, as far as it is time to: called before each frame. */
  advance(now) {
    if (this.mode === 'live') {
      for (let more = true; more && this.reach();) {
        const step = this.history.at(this.position);
        more = this.next(step && !step.kept && (!this.film || this.film(step)));
      }
    } else if (this.mode === 'playing') {
      this.playOn(now);
    }
  }

  playOn(now) {
    this.due ||= now;
    while (this.due <= now && !(this.slower > 1 && this.on.showing())) {
      const before = this.history.at(this.position);
      if (!this.next(true)) {
        // A live program goes on from here; a recording is over, if it has come at all.
        this.due = 0;
        this.history.end > 0 && this.set(this.ends ? 'paused' : 'live');
        return;
      }
      const after = this.history.at(this.position);
      if (after) {
        this.due = (this.slower > 1 ? now : this.due) + this.wait((after.at - before.at) * this.slower, before);
      }
    }
  }

  wait(milliseconds, step) {
    const shortest = this.slower > 1 && step.key ? this.slower * shortestPause : 0;
    return Math.min(Math.max(milliseconds, shortest), longestPause);
  }
}
