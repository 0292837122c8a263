// The stretch of time that everything on a run's page shows, and the selection in it.

// The shortest PPDU of OFDM: 16 us of training, 4 us of SIGNAL and a symbol [802.11-2020 §17.3.2.1]. A narrower view may be empty.
export const NARROWEST = 24_000; // ns

/** Times are nanoseconds from the start of the run. Listeners are called at every change. */
export class View {
  constructor(duration) {
    this.duration = duration;
    this.from = 0;
    this.to = duration;
    this.past = [];
    this.listeners = new Set();
  }

  get span() {
    return this.to - this.from;
  }

  listen(listener) {
    this.listeners.add(listener);
  }

  /** Shows `from` to `to`, within the run. `step`: whether `back` returns to the span shown before. */
  show(from, to, step = false) {
    if (step) this.past.push([this.from, this.to]);
    const span = Math.min(Math.max(to - from, NARROWEST), this.duration);
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(span === to - from ? from : middle - span / 2, 0), this.duration - span);
    this.to = this.from + span;
    this.listeners.forEach((listener) => listener());
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    const span = Math.min(Math.max(this.span * factor, NARROWEST), this.duration);
    const share = (at - this.from) / this.span;
    this.show(at - share * span, at + (1 - share) * span);
  }

  pan(share) {
    this.show(this.from + share * this.span, this.to + share * this.span);
  }

  whole() {
    this.show(0, this.duration, true);
  }

  back() {
    const last = this.past.pop();
    if (last) this.show(...last);
  }

  /** Moves a time into view, with the current span around it; narrower if `span` is. */
  reach(begin, end, span = this.span) {
    const wide = Math.max(span, (end - begin) * 1.5);
    if (begin < this.from || end > this.to || wide < this.span) {
      this.show((begin + end - wide) / 2, (begin + end + wide) / 2, true);
    }
  }
}
