// The page for an address, and the parts that all pages share. Each page is a module with `show(main, parameters)`.

import { element, note, toggleTheme } from 'lasthop/ui.js';

const PAGES = [
  [/^\/$/, 'lasthop/runs.js'],
  [/^\/scenario$/, 'lasthop/scenario.js'],
  [/^\/run\/(?<run>[^/]+)$/, 'lasthop/run.js'],
  [/^\/compare$/, 'lasthop/compare.js'],
  [/^\/papers(?:\/(?<paper>[^/]+))?$/, 'lasthop/papers.js'],
];

async function open() {
  const path = location.pathname;
  const [pattern, module] = PAGES.find(([pattern]) => pattern.test(path)) ?? [/^/, 'lasthop/unknown.js'];
  for (const link of document.querySelectorAll('nav a')) {
    const own = link.getAttribute('href');
    if (own === path || (own !== '/' && path.startsWith(own)) || (own === '/' && path.startsWith('/run/'))) {
      link.setAttribute('aria-current', 'page');
    }
  }
  const main = document.getElementById('main');
  const parameters = { ...path.match(pattern)?.groups, ...Object.fromEntries(new URLSearchParams(location.search)) };
  try {
    await (await import(module)).show(main, parameters);
  } catch (error) {
    main.replaceChildren(element('p', { class: 'failure' }, error.message));
    note(error.message);
  }
  document.body.dataset.ready = 'true';
}

document.getElementById('theme').addEventListener('click', toggleTheme);
open();
