// Helpers that every page uses: elements, requests, messages, readable numbers.

/** An element with attributes (`on…` are listeners, false and null are left out) and children. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, '');
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return made;
}

/** A failed request, with the server's message. */
export class Refused extends Error {
  constructor(status, said) {
    super(said);
    this.status = status;
  }
}

/** The answer to a request, or throws `Refused`. */
export async function ask(address, options = {}) {
  let answer;
  try {
    answer = await fetch(address, { credentials: 'same-origin', ...options });
  } catch {
    throw new Refused(0, 'lasthop no longer answers; is `lasthop serve` still running?');
  }
  if (answer.ok) return answer;
  const text = await answer.text();
  let said = text.trim() || answer.statusText;
  try {
    said = JSON.parse(text).error ?? said;
  } catch {
    // plain text is shown as it is
  }
  throw new Refused(answer.status, said);
}

export const askJson = async (address, options) => (await ask(address, options)).json();

/** Sends `value` as JSON and returns the JSON of the answer. */
export const sendJson = (address, value, method = 'POST') =>
  askJson(address, { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(value) });

/** Shows a message for some seconds. */
export function note(text) {
  const same = [...document.querySelectorAll('#notes p')].find((line) => line.dataset.text === text);
  const times = 1 + Number(same?.dataset.times ?? 0);
  same?.remove();
  const line = element('p', { 'data-text': text, 'data-times': times }, times > 1 ? `${text} (${times} times)` : text);
  document.getElementById('notes').append(line);
  setTimeout(() => line.remove(), 8000);
}

/** 12345678 as `12.3 M`: three digits and a prefix. */
export function withPrefix(value, unit) {
  if (value == null || !Number.isFinite(value)) return '–';
  if (value === 0) return `0 ${unit}`;
  const steps = [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
    [1, ''],
    [1e-3, 'm'],
    [1e-6, 'µ'],
    [1e-9, 'n'],
  ];
  const [scale, prefix] = steps.find(([scale]) => Math.abs(value) >= scale * 0.9995) ?? steps.at(-1);
  return `${Number((value / scale).toPrecision(3))} ${prefix}${unit}`;
}

/** A duration in nanoseconds as `1.25 ms`. */
export const span = (ns) => withPrefix(ns / 1e9, 's');

/** A time in nanoseconds, to the digit that `resolution` nanoseconds make visible: `20.001234 s`. */
export function moment(ns, resolution = 1) {
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(Math.max(resolution, 1) / 1e9))));
  return `${(ns / 1e9).toFixed(digits)} s`;
}

/** A fraction as `12.3 %`. */
export const percent = (share) => `${Number((100 * share).toPrecision(3))} %`;

/** The value of a style variable such as `--collided`. */
export const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const asked = new Set();

/** Calls `listener` when the theme changes. */
export const onTheme = (listener) => asked.add(listener);

/** Switches between the light and the dark theme; the choice is kept. */
export function toggleTheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const now = document.documentElement.dataset.theme ?? (dark ? 'dark' : 'light');
  document.documentElement.dataset.theme = now === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem('lasthop-theme', document.documentElement.dataset.theme);
  } catch {
    // a page from a file may have no storage
  }
  asked.forEach((listener) => listener());
}

try {
  const kept = localStorage.getItem('lasthop-theme');
  if (kept) document.documentElement.dataset.theme = kept;
} catch {
  // as above
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => asked.forEach((listener) => listener()));
