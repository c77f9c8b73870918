// The clock of the talk. It stands still until the deck first turns, however long the class is waited for; then it
// is set to the minute for which the slide is planned, so that the first slide counts as planned. It can be
// paused. The tab keeps it over a reload.

const KEPT = `deck-clock ${window.location.pathname}`;
const MINUTE = 60_000; // ms
const WAITING = { zero: null, paused: null };

export class Clock {
  /** `zero` is the moment at which the clock showed 0:00, `paused` the one since which it stands still. */
  #state = JSON.parse(sessionStorage.getItem(KEPT)) ?? WAITING;

  get isWaiting() {
    return this.#state.zero === null;
  }

  get isPaused() {
    return this.#state.paused !== null;
  }

  get minutes() {
    const { zero, paused } = this.#state;
    return this.isWaiting ? 0 : ((paused ?? Date.now()) - zero) / MINUTE;
  }

  begin(minute) {
    this.#set({ zero: Date.now() - minute * MINUTE, paused: null });
  }

  reset() {
    this.#set(WAITING);
  }

  togglePause() {
    const { zero, paused } = this.#state;
    if (this.isWaiting) this.begin(0);
    else if (this.isPaused) this.#set({ zero: zero + Date.now() - paused, paused: null });
    else this.#set({ zero, paused: Date.now() });
  }

  #set(state) {
    this.#state = state;
    sessionStorage.setItem(KEPT, JSON.stringify(state));
  }
}

/** How many minutes the talk is behind its plan for a slide, less than 0 where it is ahead. */
export function minutesBehind(minutes, { start, end }) {
  const behind = Math.max(0, minutes - end) - Math.max(0, start - minutes);
  return Math.round(behind) || 0; // and not -0
}
