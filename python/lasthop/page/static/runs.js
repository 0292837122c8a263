// The list of things to open: runs in progress, results, stores with their runs, and scenarios.

import { jobPanel, meanOf } from 'lasthop/job.js';
import { askJson, element, note, withPrefix } from 'lasthop/ui.js';

const AT_ONCE = 25;
const DAY_S = 86_400;

/** Shows the list. */
export async function show(main) {
  const [{ roots, entries }, { jobs }] = await Promise.all([askJson('/api/entries'), askJson('/api/jobs')]);
  main.replaceChildren(...new RunsPage(roots, entries, jobs).parts());
}

/** A date as short as possible: `14:05` for today, else the date. */
function when(seconds) {
  const date = new Date(seconds * 1000);
  const time = date.toTimeString().slice(0, 5);
  const day = `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`;
  const told = Date.now() / 1000 - seconds < DAY_S ? time : day;
  return element('time', { datetime: date.toISOString(), title: `${day} ${time}` }, told);
}

class RunsPage {
  constructor(roots, entries, jobs) {
    this.roots = roots;
    this.jobs = jobs;
    this.rows = new Map();
    this.facts = new Map();
    this.ticked = [];
    this.of = (kind) => entries.filter((entry) => entry.kind === kind);
  }

  parts() {
    this.filter = element('input', {
      type: 'search',
      placeholder: 'filter by name, place or description',
      'aria-label': 'filter',
      class: 'filter',
      oninput: () => this.filtered(),
    });
    this.compare = element(
      'button',
      { type: 'button', id: 'compare', disabled: true, onclick: () => this.compared() },
      'Compare two',
    );
    const going = this.jobs.filter((job) => ['running', 'waiting'].includes(job.state));
    const parts = [
      element(
        'div',
        { class: 'row' },
        element('h1', {}, 'Runs'),
        this.filter,
        this.compare,
        element('a', { class: 'button main', href: '/scenario' }, 'New scenario'),
      ),
      element('p', { class: 'quiet' }, `below ${this.roots.join(', ')}`),
      ...(going.length ? [element('section', { 'aria-label': 'going on' }, ...going.map((job) => jobPanel(job)))] : []),
      this.results(),
      this.stores(),
      this.scenarios(),
    ];
    this.fill();
    return parts;
  }

  results() {
    const found = this.of('result');
    if (!found.length) {
      return element(
        'p',
        {},
        'No results yet. Open a scenario below and run it, or make one with ',
        element('code', {}, 'lasthop run FILE --out DIR'),
        ' in this directory.',
      );
    }
    return this.table('Results', ['', 'name', 'goodput', 'seeds', 'simulated', 'with', 'when', ''], found, (entry) =>
      this.resultRow(entry),
    );
  }

  resultRow(entry) {
    const tick = element('input', {
      type: 'checkbox',
      'aria-label': `compare ${entry.name}`,
      onchange: (event) => this.tick(entry.key, event.target),
    });
    const cells = { goodput: cell('number'), seeds: cell('number'), simulated: cell('number'), with: cell('quiet') };
    const row = element(
      'tr',
      {},
      element('td', {}, tick),
      element('td', {}, element('a', { href: `/run/${entry.key}` }, entry.name), place(entry)),
      ...Object.values(cells),
      element('td', {}, when(entry.modified_s)),
      element('td', {}, element('a', { href: `/scenario?from=${entry.key}` }, 'new run')),
    );
    this.rows.set(entry.key, { row, entry, fill: (facts) => fillResult(cells, facts) });
    return row;
  }

  stores() {
    const found = this.of('store');
    if (!found.length) return '';
    return element('section', {}, element('h2', {}, 'Stores'), ...found.map((entry) => this.store(entry)));
  }

  store(entry) {
    const content = element('div', {}, element('p', { class: 'quiet' }, 'reading…'));
    const summary = element('summary', {}, entry.name, ' ', element('span', { class: 'quiet' }, entry.place));
    const details = element('details', { class: 'box store' }, summary, content);
    this.rows.set(entry.key, { row: details, entry, fill: () => {} });
    details.addEventListener(
      'toggle',
      () => details.open && !content.dataset.asked && storeRuns(entry, content, (key, box) => this.tick(key, box)),
    );
    return details;
  }

  scenarios() {
    const found = this.of('scenario');
    const own = found.filter((entry) => !entry.ready);
    return element(
      'div',
      {},
      own.length ? this.scenarioTable('Scenarios', own) : '',
      this.scenarioTable(
        'Scenarios that come with lasthop',
        found.filter((entry) => entry.ready),
      ),
    );
  }

  scenarioTable(title, found) {
    return this.table(title, ['name', 'what it shows', 'simulated', 'when'], found, (entry) => {
      const cells = { description: cell('description'), simulated: cell('number') };
      const row = element(
        'tr',
        {},
        element('td', {}, element('a', { href: `/scenario?from=${entry.key}` }, entry.name), place(entry)),
        cells.description,
        cells.simulated,
        element('td', {}, when(entry.modified_s)),
      );
      const fill = (facts) => {
        cells.description.replaceChildren(
          facts.error ? element('span', { class: 'failure' }, facts.error) : facts.description,
        );
        cells.simulated.textContent = facts.duration ?? '';
      };
      this.rows.set(entry.key, { row, entry, fill });
      return row;
    });
  }

  table(title, heads, entries, row) {
    const right = new Set(['goodput', 'seeds', 'simulated']);
    const head = heads.map((word) => element('th', { class: right.has(word) && 'number' }, word));
    return element(
      'section',
      {},
      element('h2', {}, title),
      element(
        'div',
        { class: 'scroll' },
        element(
          'table',
          { class: 'list' },
          element('thead', {}, element('tr', {}, ...head)),
          element('tbody', {}, ...entries.map(row)),
        ),
      ),
    );
  }

  /** Loads the numbers of all rows in portions, so that the first are there at once. */
  async fill() {
    const keys = [...this.rows.entries()].filter(([, { entry }]) => entry.kind !== 'store').map(([key]) => key);
    for (let begin = 0; begin < keys.length; begin += AT_ONCE) {
      try {
        const told = await askJson(`/api/facts?keys=${keys.slice(begin, begin + AT_ONCE).join(',')}`);
        for (const [key, facts] of Object.entries(told)) {
          this.facts.set(key, facts);
          this.rows.get(key)?.fill(facts);
        }
      } catch (error) {
        return note(error.message);
      }
    }
    this.filtered();
  }

  filtered() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const [key, { row, entry }] of this.rows) {
      const facts = this.facts.get(key) ?? {};
      const text = [entry.name, entry.place, facts.title, facts.description].join(' ').toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  }

  tick(key, box) {
    this.ticked = this.ticked.filter(([other]) => other !== key);
    if (box.checked) this.ticked.push([key, box]);
    if (this.ticked.length > 2) this.ticked.shift()[1].checked = false;
    this.compare.disabled = this.ticked.length !== 2;
  }

  compared() {
    const [[b], [a]] = this.ticked;
    location.assign(`/compare?a=${a}&b=${b}`);
  }
}

const cell = (kind) => element('td', { class: kind });

const place = (entry) => (entry.place !== entry.name ? element('span', { class: 'quiet place-of' }, entry.place) : '');

function fillResult(cells, facts) {
  if (facts.error) {
    cells.with.replaceChildren(element('span', { class: 'failure' }, facts.error));
    return;
  }
  cells.goodput.textContent = meanOf(facts.goodput);
  cells.seeds.textContent = facts.seeds.length + (facts.failed ? ` (${facts.failed} failed)` : '');
  cells.simulated.textContent = facts.duration ?? '';
  cells.with.textContent = [facts.recorded && 'air', facts.explained && 'account', facts.interrupted && 'interrupted']
    .filter(Boolean)
    .join(', ');
}

async function storeRuns(entry, content, tick, text = '') {
  content.dataset.asked = 'true';
  let told;
  try {
    told = await askJson(`/api/entries/${entry.key}?text=${encodeURIComponent(text)}`);
    if (told.error) throw new Error(told.error);
  } catch (error) {
    content.replaceChildren(element('p', { class: 'failure' }, error.message));
    return;
  }
  const search = element('input', {
    type: 'search',
    value: text,
    placeholder: 'filter by name or settings',
    'aria-label': `filter the runs of ${entry.name}`,
  });
  search.addEventListener('change', () => storeRuns(entry, content, tick, search.value));
  const line = (run) => {
    const key = `${entry.key}.${run.run}`,
      name = run.name || 'run';
    const settings = Object.entries(run.settings)
      .map(([path, value]) => `${path}=${value}`)
      .join(' ');
    const box = element('input', {
      type: 'checkbox',
      'aria-label': `compare ${name} ${settings} seed ${run.seed}`,
      onchange: (event) => tick(key, event.target),
    });
    return element(
      'tr',
      {},
      element('td', {}, box),
      element('td', {}, element('a', { href: `/run/${key}` }, name)),
      element('td', { class: 'mono' }, settings),
      element('td', { class: 'number' }, run.seed),
      element('td', { class: 'number' }, run.goodput_bps == null ? '–' : withPrefix(run.goodput_bps, 'bit/s')),
      element('td', {}, when(run.finished_s)),
    );
  };
  const heads = [
    ['', ''],
    ['name', ''],
    ['settings', ''],
    ['seed', 'number'],
    ['goodput', 'number'],
    ['when', ''],
  ];
  const shown =
    told.runs.length < told.count ? `the latest ${told.runs.length} of ${told.count} runs` : `${told.count} runs`;
  content.replaceChildren(
    element('div', { class: 'row' }, search, element('span', { class: 'quiet' }, shown)),
    element(
      'div',
      { class: 'scroll' },
      element(
        'table',
        { class: 'list' },
        element('thead', {}, element('tr', {}, ...heads.map(([word, kind]) => element('th', { class: kind }, word)))),
        element('tbody', {}, ...told.runs.map(line)),
      ),
    ),
  );
}
