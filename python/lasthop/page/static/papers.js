// Papers: their claims, the verdicts, their figures, and the runs behind.

import { jobPanel } from 'lasthop/job.js';
import { askJson, element, note, sendJson } from 'lasthop/ui.js';

const LOOKS = { holds: 'good', 'holds in part': 'warning', 'does not hold': 'failure' };

/** Shows all papers, or one. */
export async function show(main, { paper }) {
  if (!paper) return main.replaceChildren(...all(await askJson('/api/papers')));
  const found = await askJson(`/api/papers/${encodeURIComponent(paper)}`);
  document.title = `${found.name} · papers · lasthop`;
  main.replaceChildren(...one(found));
}

/** A verdict in its colour; only the part before its colon is coloured and short. */
const verdict = (said) =>
  said
    ? element('span', { class: `verdict ${LOOKS[said] ?? 'quiet'}` }, said.split(':')[0])
    : element('span', { class: 'quiet' }, '–');

function counted(counts) {
  const parts = Object.entries(counts ?? {}).flatMap(([said, count]) => [`${count} `, verdict(said), ', ']);
  return parts.length ? parts.slice(0, -1) : ['–'];
}

function all({ papers, why }) {
  if (!papers.length) return [element('h1', {}, 'Papers'), element('p', {}, `${why}.`)];
  const line = (paper) =>
    element(
      'tr',
      {},
      element(
        'td',
        {},
        element('a', { href: `/papers/${paper.key}` }, paper.name),
        element('span', { class: 'quiet place-of' }, paper.published ?? ''),
      ),
      element(
        'td',
        { class: 'description' },
        paper.error
          ? element('span', { class: 'failure' }, paper.error)
          : [element('em', {}, paper.title), element('span', { class: 'place-of' }, paper.summary)],
      ),
      element('td', { class: 'number', 'data-head': 'claims' }, paper.claims ?? ''),
      element('td', { 'data-head': 'in the release' }, ...counted(paper.released)),
      element(
        'td',
        { 'data-head': 'reproduced here' },
        ...(paper.here ? [...counted(paper.here.verdicts), paper.here.quick ? ' (quick)' : ''] : ['–']),
      ),
    );
  const heads = ['paper', 'what it says', 'claims', 'in the release', 'reproduced here'];
  return [
    element('h1', {}, 'Papers'),
    element('p', { class: 'quiet' }, 'What each paper claims, in our words, held against runs of this simulator.'),
    element(
      'div',
      { class: 'scroll' },
      element(
        'table',
        { class: 'list cards' },
        element(
          'thead',
          {},
          element('tr', {}, ...heads.map((word) => element('th', { class: word === 'claims' && 'number' }, word))),
        ),
        element('tbody', {}, ...papers.map(line)),
      ),
    ),
  ];
}

function one(paper) {
  const jobs = element('div', {});
  const again = element(
    'button',
    { type: 'button', class: 'main', id: 'reproduce', title: 'short runs and few seeds: a first look' },
    'Reproduce quickly',
  );
  again.addEventListener('click', async () => {
    again.disabled = true;
    try {
      const job = await sendJson(`/api/papers/${paper.key}/reproduce`, {});
      jobs.prepend(
        jobPanel(job, (told) => {
          again.disabled = false;
          if (told.state === 'done') show(document.getElementById('main'), { paper: paper.key });
        }),
      );
    } catch (error) {
      again.disabled = false;
      note(error.message);
    }
  });
  const here = paper.here
    ? element(
        'p',
        { class: 'quiet' },
        `Reproduced here with ${paper.here.quick ? 'quick' : 'full'} runs: `,
        ...counted(paper.here.verdicts),
        '.',
      )
    : element('p', { class: 'quiet' }, 'Not reproduced here yet; the verdicts are those of the release.');
  return [
    element(
      'div',
      { class: 'row' },
      element('h1', {}, paper.name),
      again,
      element('a', { href: '/papers' }, 'all papers'),
    ),
    jobs,
    element('p', {}, element('em', {}, paper.title), `. ${paper.authors}. ${paper.published}.`),
    element('p', {}, paper.summary),
    here,
    element('h2', {}, 'Claims'),
    ...paper.claims.map((claim) => claimBox(paper, claim)),
    paper.figures.length ? element('h2', {}, 'Figures') : '',
    element('div', { class: 'figures' }, ...paper.figures.map((figure) => figureBox(paper, figure))),
    paper.notes.length
      ? element(
          'details',
          { class: 'box' },
          element('summary', {}, 'Notes'),
          element('ul', {}, ...paper.notes.map((text) => element('li', {}, text))),
        )
      : '',
  ];
}

function claimBox(paper, claim) {
  const now = claim.here?.verdict ?? claim.released.full;
  const parts = claim.parts.map((part, index) =>
    element(
      'tr',
      {},
      element(
        'td',
        {},
        part.sentence || claim.sentence,
        part.because && element('span', { class: 'quiet remark' }, part.because),
      ),
      element('td', {}, part.expected),
      element('td', { class: 'number' }, measured(claim.here?.parts[index])),
      element('td', {}, verdict(claim.here?.parts[index]?.verdict)),
    ),
  );
  const heads = ['statement', 'expected', 'measured here', 'here'].map((word) =>
    element('th', { class: word === 'measured here' && 'number' }, word),
  );
  const remarks = [claim.not_comparable && `Not comparable: ${claim.not_comparable}`, claim.found].filter(Boolean);
  return element(
    'details',
    { class: 'box claim', id: claim.id },
    element(
      'summary',
      {},
      element('span', { class: 'mono' }, claim.id),
      ' ',
      verdict(now),
      ' ',
      claim.sentence,
      element('span', { class: 'quiet' }, ` ${claim.place}`),
    ),
    element(
      'div',
      { class: 'scroll' },
      element('table', {}, element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...parts)),
    ),
    element(
      'p',
      { class: 'quiet' },
      'In the release: ',
      verdict(claim.released.full),
      ', with quick runs ',
      verdict(claim.released.quick),
      '.',
    ),
    ...remarks.map((text) => element('p', {}, text)),
    behind(paper, claim.id),
  );
}

const UNITS = {
  'Mbit/s': [1e-6, 3],
  'kbit/s': [1e-3, 1],
  'KB/s': [1 / 8000, 1],
  '%': [100, 1],
  ms: [1e3, 2],
  us: [1e6, 1],
  s: [1, 2],
};

function measured(part) {
  if (!part) return '–';
  const [factor, decimals] = UNITS[part.unit] ?? [1, 3];
  const said = (value) => (value * factor).toFixed(decimals);
  if (part.values.length) return `${part.values.map(said).join(', ')} ${part.unit}`;
  if (part.measured == null) return 'no value';
  const interval =
    part.ci95_low == null || part.ci95_low === part.ci95_high
      ? ''
      : ` [${said(part.ci95_low)}, ${said(part.ci95_high)}]`;
  return `${said(part.measured)}${interval} ${part.unit}`;
}

function figureBox(paper, figure) {
  const picture =
    figure.drawn &&
    element('img', {
      src: `/api/papers/${paper.key}/figures/${encodeURIComponent(figure.number)}`,
      alt: figure.title,
      class: 'picture',
      loading: 'lazy',
    });
  return element(
    'details',
    { class: 'box', open: figure.drawn, id: `figure-${figure.number}` },
    element('summary', {}, `Figure ${figure.number}: ${figure.title}`),
    picture || element('p', { class: 'quiet' }, 'Not drawn here yet.'),
    behind(paper, `figure-${figure.number}`),
  );
}

/** The runs that a claim or figure reads, loaded on request. */
function behind(paper, what) {
  const place = element('div', {});
  const open = element('button', { type: 'button', class: 'behind' }, 'Runs behind it');
  open.addEventListener('click', async () => {
    open.disabled = true;
    try {
      place.replaceChildren(
        ...runs(paper, what, await askJson(`/api/papers/${paper.key}/behind/${encodeURIComponent(what)}`)),
      );
    } catch (error) {
      note(error.message);
      open.disabled = false;
    }
  });
  return element('div', {}, open, place);
}

function runs(paper, what, found) {
  if (!found.count) return [element('p', { class: 'quiet' }, 'It rests on a closed form, and on no run.')];
  const line = (point) =>
    element(
      'tr',
      {},
      element(
        'td',
        {},
        [point.case, ...Object.entries(point.labels).map(([name, label]) => `${name} ${label}`)].join(', '),
      ),
      element(
        'td',
        {},
        ...(point.runs.length
          ? point.runs.flatMap((run) => [element('a', { href: `/run/${run.key}` }, `seed ${run.seed}`), ' '])
          : [element('span', { class: 'quiet' }, 'not run here')]),
      ),
      element(
        'td',
        {},
        element(
          'a',
          { href: `/scenario?paper=${paper.key}&claim=${encodeURIComponent(what)}&run=${point.number}` },
          'open its scenario',
        ),
      ),
    );
  const rest = found.count > found.points.length ? `The first ${found.points.length} of ${found.count} settings.` : '';
  return [
    element(
      'div',
      { class: 'scroll' },
      element(
        'table',
        {},
        element('thead', {}, element('tr', {}, ...['setting', 'runs here', ''].map((word) => element('th', {}, word)))),
        element('tbody', {}, ...found.points.map(line)),
      ),
    ),
    rest && element('p', { class: 'quiet' }, rest),
  ].filter(Boolean);
}
