// Two runs on one time axis.

import { element } from 'lasthop/ui.js';
import { legend, opened } from 'lasthop/run.js';

/** Both runs, by their keys, in `section`; a run without a recording is run again first. */
export async function besideRuns(section, keys) {
  const pages = [];
  for (const run of keys) pages.push(await opened(section, { run }));
  showBeside(section, pages);
}

/** Lays out the parts of two pages on one time axis in `section`: airs below each other, then each kind of curve of both. */
export function showBeside(section, [a, b]) {
  const name = (letter, page) =>
    element('h3', { class: 'side' }, `${letter}: ${page.run.title}, seed ${page.run.seed}`);
  const curves = a.charts.flatMap((chart) => {
    const other = b.charts.find((one) => one.name === chart.name);
    return [
      element('span', { class: 'letter' }, 'A'),
      chart.box,
      other && element('span', { class: 'letter' }, 'B'),
      other?.box,
    ];
  });
  const accounts = [a, b].flatMap((page, i) => [element('span', { class: 'letter' }, 'AB'[i]), page.explained.timed]);
  for (const page of [a, b]) page.box = section;
  section.classList.add('run');
  section.replaceChildren(
    a.steps,
    legend(),
    element(
      'div',
      { class: 'board' },
      element(
        'div',
        { class: 'timed' },
        name('A', a),
        a.choices,
        a.overview.canvas,
        a.air.box,
        name('B', b),
        b.choices,
        b.overview.canvas,
        b.air.box,
        curves,
        accounts,
      ),
      element(
        'aside',
        { class: 'aside' },
        a.details.box,
        b.details.box,
        name('A', a),
        a.explained.box,
        name('B', b),
        b.explained.box,
      ),
    ),
  );
  together(a, b);
  a.start({});
  b.start({ keys: false });
}

/** Shows the same span on both; a flow that both have is chosen for both. */
function together(a, b) {
  let following = false;
  const once = (act) => {
    if (following) return;
    following = true;
    act();
    following = false;
  };
  for (const [leader, follower] of [
    [a, b],
    [b, a],
  ]) {
    leader.view.listen(() => once(() => follower.view.show(leader.view.from, leader.view.to)));
    leader.flows.addEventListener('change', () => follower.chooseFlow(leader.flows.value));
  }
}
