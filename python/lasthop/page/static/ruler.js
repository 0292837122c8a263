// Ticks of a time axis at round times.

const STEPS = [1, 2, 5];

/** Round times between `from` and `to` (ns), at least `apart` pixels from one another on `width` pixels. */
export function ticks(from, to, width, apart = 110) {
  const wanted = ((to - from) / Math.max(width, 1)) * apart;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = power * (STEPS.find((s) => s * power >= wanted) ?? 10);
  const found = [];
  for (let n = Math.ceil(from / step); n * step <= to; n += 1) found.push(n * step);
  return { step, found };
}

/** A time in the form of its axis: seconds with the digits that the step needs. */
export function label(ns, step) {
  const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / 1e9) + 1e-9)));
  return `${(ns / 1e9).toFixed(digits)}`;
}
