// The page of an address that there is not, with the ways back.

import { element } from 'lasthop/ui.js';

const WAYS = [
  ['/', 'Runs', 'the results, stores and scenarios below these directories'],
  ['/scenario', 'Scenario', 'write a scenario and run it'],
  ['/compare', 'Compare', 'two results next to each other'],
  ['/papers', 'Papers', 'claims of papers and their verdicts'],
];

/** Shows the address and links to the pages. */
export async function show(main) {
  document.title = 'No such page · lasthop';
  main.replaceChildren(
    element('h1', {}, 'No such page'),
    element('p', {}, 'There is no page at ', element('code', {}, location.pathname), '. These pages exist:'),
    element(
      'ul',
      { class: 'ways' },
      ...WAYS.map(([href, name, what]) => element('li', {}, element('a', { href }, name), `: ${what}`)),
    ),
  );
}
