// Two runs side by side: differences between their scenarios and their numbers, and the reasons.

import { ask, askJson, element, percent } from 'lasthop/ui.js';

/** Shows A next to B, or a form to choose them. */
export async function show(main, { a, b }) {
  if (!a || !b) return main.replaceChildren(...(await choice(a, b)));
  const found = await askJson(`/api/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`);
  document.title = `${found.sides[0].name}, ${found.sides[1].name} · lasthop`;
  main.replaceChildren(
    head(found.sides),
    ...differences(found),
    plots(found, a, b),
    warnings(found.sides),
    section('airs', 'The air of both', airs([a, b])),
  );
}

/** The reasons why two runs differ, the numbers that differ, and the differences between their scenarios. */
export function differences(found) {
  return [
    why(found.why),
    section('differences', 'Numbers', numbers(found)),
    section('scenarios', 'What their scenarios have otherwise', scenarios(found)),
  ];
}

/** Both airs on one time axis, on request: a seed without a recording is run again. */
function airs(keys) {
  const place = element('div', {});
  const open = async () => {
    place.replaceChildren(element('p', { class: 'quiet' }, '…'));
    try {
      const { besideRuns } = await import('lasthop/compare_view.js');
      await besideRuns(place, keys);
    } catch (error) {
      place.replaceChildren(element('p', { class: 'failure' }, error.message));
    }
  };
  place.append(element('button', { type: 'button', class: 'main', onclick: open }, 'Show both on one time axis'));
  return place;
}

async function choice(a, b) {
  const { entries } = await askJson('/api/entries');
  const results = entries.filter((entry) => entry.kind === 'result');
  const few = results.length < 2;
  const pick = (name, chosen) => {
    const options = results.map((entry) =>
      element('option', { value: entry.key, selected: entry.key === chosen }, entry.place),
    );
    if (!options.length) options.push(element('option', {}, 'no result yet'));
    return element('label', {}, `${name.toUpperCase()} `, element('select', { name, disabled: few }, ...options));
  };
  return [
    element('h1', {}, 'Compare'),
    element('p', {}, 'Choose two results: A is what you had, B is what you changed.'),
    element(
      'form',
      { class: 'row choosers', action: '/compare' },
      pick('a', a ?? results[1]?.key),
      pick('b', b ?? results[0]?.key),
      element('button', { class: 'main', disabled: few }, 'Compare'),
    ),
    few &&
      element(
        'p',
        {},
        `${results.length ? 'There is one result' : 'There are no results'} below these directories. `,
        element('a', { href: '/scenario' }, 'Run a scenario'),
        results.length ? ' for the other one.' : ', and again with a setting changed.',
      ),
  ].filter(Boolean);
}

function section(id, title, ...content) {
  return element('section', { id, 'aria-label': title || id }, title && element('h2', {}, title), ...content);
}

function head(sides) {
  const one = (letter, side) =>
    element(
      'p',
      {},
      element('strong', {}, `${letter}: `),
      element('a', { href: `/run/${side.key}` }, side.name),
      ` (${side.scenario}), `,
      element('span', { class: 'quiet' }, `${side.seeds.length} ${side.seeds.length === 1 ? 'seed' : 'seeds'}`),
      ' ',
      element('a', { href: `/scenario?from=${side.key}` }, 'new run'),
    );
  const swap = element('a', { href: `/compare?a=${sides[1].key}&b=${sides[0].key}`, class: 'button' }, 'swap');
  return element(
    'div',
    {},
    element('div', { class: 'row' }, element('h1', {}, 'B beside A'), swap),
    one('A', sides[0]),
    one('B', sides[1]),
  );
}

function why(told) {
  if (!told.answers)
    return section(
      'why',
      'Why',
      element(
        'p',
        { class: 'quiet' },
        `${told.said}. `,
        told.missing && element('a', { href: `/scenario?from=${told.missing}` }, 'Open its scenario'),
      ),
    );
  const lines = told.answers.length ? told.answers : ['The accounts of both are alike.'];
  const table = (title, rows) => rows.length > 0 && element('div', { class: 'scroll' }, changes(title, rows));
  return section(
    'why',
    'Why',
    element('ul', {}, ...lines.map((line) => element('li', {}, line))),
    element(
      'div',
      { class: 'columns' },
      table('of the flows’ time (mean)', told.flows),
      table('of the channels’ time', told.channel),
    ),
  );
}

function changes(title, rows) {
  const most = Math.max(...rows.map((row) => Math.max(row.a, row.b)));
  const bar = (kind, share) => {
    const made = element('span', { class: `share ${kind}` });
    made.style.width = `${(100 * share) / most}%`;
    return made;
  };
  const line = (row) =>
    element(
      'tr',
      {},
      element('td', {}, row.term),
      element('td', { class: 'shares', 'aria-hidden': 'true' }, bar('a', row.a), bar('b', row.b)),
      element('td', { class: 'number' }, percent(row.a)),
      element('td', { class: 'number' }, percent(row.b)),
      element('td', { class: 'number' }, points(row)),
    );
  return table([title, '', 'A', 'B', 'B − A (points)'], rows.map(line), 2);
}

function points({ a, b, difference }) {
  const half = difference?.ci95_high == null ? '' : ` ± ${(100 * (difference.ci95_high - difference.mean)).toFixed(1)}`;
  return signed(100 * (b - a), 1) + half;
}

const signed = (value, decimals, say = (size) => size.toFixed(decimals)) =>
  `${value < 0 ? '−' : '+'}${say(Math.abs(value), decimals)}`;

function table(heads, rows, numbersFrom) {
  const head = heads.map((word, index) => element('th', { class: index >= numbersFrom && 'number' }, word));
  return element('table', {}, element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...rows));
}

/** `value` with this many decimals, or more if it would read as zero. */
function number(value, decimals) {
  return value !== 0 && Math.abs(value) < 0.5 * 10 ** -decimals ? value.toPrecision(2) : value.toFixed(decimals);
}

function withInterval(found, decimals, sign = false) {
  if (!found) return '–';
  const mean = sign && found.mean !== 0 ? signed(found.mean, decimals, number) : number(found.mean, decimals);
  return found.ci95_high == null ? mean : `${mean} ± ${number(Math.max(0, found.ci95_high - found.mean), decimals)}`;
}

function numbers({ rows }) {
  const line = (row) => {
    const change = row.a && row.b && row.a.mean !== 0 ? `${signed(100 * (row.b.mean / row.a.mean - 1), 1)} %` : '–';
    const told = row.difference?.told;
    return element(
      'tr',
      {},
      element('td', {}, row.unit ? `${row.label} (${row.unit})` : row.label),
      element('td', { class: 'number' }, withInterval(row.a, row.decimals)),
      element('td', { class: 'number' }, withInterval(row.b, row.decimals)),
      element(
        'td',
        { class: `number${told ? ' told' : ' quiet'}`, title: told ? '' : 'not told from none by these seeds' },
        withInterval(row.difference, row.decimals, true),
      ),
      element('td', { class: 'number' }, change),
    );
  };
  const paired = rows.some((row) => row.difference?.paired);
  const how = paired
    ? 'Differences are taken seed by seed over the seeds that both have.'
    : 'Differences are of independent means, as the seeds differ.';
  return element(
    'div',
    { class: 'scroll' },
    table(['', 'A', 'B', 'B − A', 'B / A − 1'], rows.map(line), 1),
    element('p', { class: 'quiet' }, `Means ± 95 % intervals. ${how} Bold: told from none.`),
  );
}

function scenarios(found) {
  if (!found.scenarios.length) return element('p', { class: 'quiet' }, 'Nothing: both resolve to the same.');
  const said = (value) => element('code', {}, value == null ? '–' : String(value));
  const line = (row) =>
    element(
      'tr',
      {},
      element('td', {}, element('code', {}, row.key)),
      element('td', {}, said(row.a)),
      element('td', {}, said(row.b)),
    );
  return element('div', { class: 'scroll' }, table(['key', 'A', 'B'], found.scenarios.map(line), 9));
}

function plots(found, a, b) {
  const picture = element('img', { alt: '', class: 'picture' });
  const said = element('p', { class: 'quiet', role: 'status' });
  const kind = element(
    'select',
    { 'aria-label': 'plot' },
    ...found.plots.map((name) => element('option', { value: name }, name.replaceAll('_', ' '))),
  );
  const draw = async () => {
    said.textContent = 'drawing…';
    try {
      const answer = await ask(
        `/api/compare/plot?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}&kind=${kind.value}`,
      );
      if (picture.src) URL.revokeObjectURL(picture.src);
      picture.src = URL.createObjectURL(await answer.blob());
      picture.alt = `${kind.value} of A and B`;
      picture.hidden = false;
      said.textContent = '';
    } catch (error) {
      picture.hidden = true;
      said.textContent = error.message;
    }
  };
  kind.addEventListener('change', draw);
  const made = element(
    'details',
    { class: 'box', id: 'plots' },
    element('summary', {}, 'Plots'),
    element('div', { class: 'row' }, kind),
    said,
    element('div', { class: 'scroll' }, picture),
  );
  made.addEventListener('toggle', () => made.open && !picture.src && draw());
  return made;
}

function warnings(sides) {
  const lines = sides.flatMap((side, index) =>
    side.warnings.map((text) => element('li', { class: 'warning' }, `${'AB'[index]}: ${text}`)),
  );
  return lines.length ? section('warnings', 'Warnings', element('ul', {}, ...lines)) : '';
}
