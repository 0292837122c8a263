// The keyboard, as in Perfetto: W and S zoom, A and D pan.

export const HELP = [
  ['W S', 'zoom in and out, at the mouse'],
  ['A D, ← →', 'earlier and later'],
  ['0', 'whole run'],
  ['Backspace', 'what was shown before'],
  ['. ,', 'next and previous PPDU'],
  ['F', 'zoom to the selected PPDU'],
  ['Esc', 'select nothing'],
  ['↑ ↓', 'scroll rows'],
  ['L', 'light or dark'],
  ['wheel', 'zoom; with Shift pan; with Alt, or over the names, scroll rows'],
  ['drag', 'pan; over a chart: zoom to a stretch'],
];

/** Lets keys move `page`, except while they are typed into a field. */
export function listenToKeys(page) {
  const { view, air } = page;
  let mouse = null;
  air.canvas.addEventListener('pointermove', (event) => {
    mouse = air.time(event.offsetX);
  });
  air.canvas.addEventListener('pointerleave', () => {
    mouse = null;
  });
  const keys = {
    w: () => view.zoom(0.6, mouse ?? undefined),
    s: () => view.zoom(1 / 0.6, mouse ?? undefined),
    a: () => view.pan(-0.15),
    d: () => view.pan(0.15),
    arrowleft: () => view.pan(-0.05),
    arrowright: () => view.pan(0.05),
    arrowup: () => air.scrollRows(-1),
    arrowdown: () => air.scrollRows(1),
    0: () => view.whole(),
    backspace: () => view.back(),
    escape: () => page.unselect(),
    '.': () => step(page, 1),
    ',': () => step(page, -1),
    f: () => fit(page),
    l: () => document.getElementById('theme')?.click(),
  };
  document.addEventListener('keydown', (event) => {
    const typed = event.target.closest?.('input, select, textarea, [contenteditable]');
    const act = keys[event.key.toLowerCase()];
    if (!act || typed || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
}

async function step(page, by) {
  const number = page.air.selected;
  if (number == null) return;
  try {
    const facts = await page.source.json(`ppdus/${number + by}`);
    if (facts) page.ppdu(facts.ppdu, facts);
  } catch {
    // first or last position of the run
  }
}

async function fit(page) {
  if (page.air.selected == null) return;
  const facts = await page.source.json(`ppdus/${page.air.selected}`);
  if (facts) page.view.show(facts.start_ns - 2 * facts.duration_ns, facts.start_ns + 3 * facts.duration_ns, true);
}
