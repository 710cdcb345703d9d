// The position of the page in time. Live follows the newest step; paused stays, while newer steps are
// kept; playing continues at the chosen speed. When it plays slower than real time it waits for the
// picture, so that the whole page shows the same step.

import {World} from './world.js';

// The longest pause between two steps when playing, in milliseconds.
const longestPause = 1200;
// Slower than real time, each step of an object is visible for at least this long, times slower.
const shortestPause = 40;

export class Player {
  /** on: {step(step), showing(), reached(step), moved(), mode(mode)} */
  constructor(history, on) {
    this.history = history;
    this.on = on;
    this.slower = 1;
    this.mode = 'live';
    this.ends = false; // true for a recording
    // When live, selects the steps for the picture. Each is shown to its end before the next. If it is
    // null, all steps are shown as they come.
    this.film = null;
    this.marks = [];
    this.clear();
    // Dropped steps still count.
    history.trimmed = (gone) => {
      for (const step of gone) {
        this.base.apply(step);
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

  /** Calls run when all steps so far have been shown. */
  after(run) {
    this.marks.push({n: this.history.end, run});
  }

  // Reports each step that has been shown to its end, once, and calls the marks that wait for it.
  // Returns false if the picture is not ready for the next step.
  reach() {
    for (;;) {
      if (this.film && this.on.showing()) {
        return false;
      }
      if (this.marks[0]?.n <= this.reached) {
        this.marks.shift().run();
      } else if (this.reached < this.position) {
        this.reached = Math.max(this.reached, this.history.first);
        this.on.reached(this.history.at(this.reached++));
      } else {
        return true;
      }
    }
  }

  /** Continues in that mode: 'live', 'paused' or 'playing'. */
  set(mode) {
    if (this.mode !== mode) {
      this.mode = mode;
      this.due = 0;
      this.on.mode(mode);
    }
  }

  /** Goes to the newest step, and follows new ones. */
  live() {
    this.seek(this.history.end);
    this.set('live');
  }

  /** Replays the last so many milliseconds. */
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
      this.world.apply(this.history.at(this.position++));
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
    this.world.apply(step);
    if (animate) {
      this.on.step(step);
    }
    return true;
  }

  /** Advances as far as it is time to; called before each frame. */
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
        // A live program continues from here; a recording is over, if any step has arrived.
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
