// The scenario editor: text with marked mistakes, the map, closed forms, and runs.

import { Vocabulary } from 'lasthop/completion.js';
import { Editor } from 'lasthop/editor.js';
import { jobPanel } from 'lasthop/job.js';
import { PlaceMap } from 'lasthop/map.js';
import { saving } from 'lasthop/saving.js';
import { askJson, element, note, sendJson, withPrefix } from 'lasthop/ui.js';

const PAUSE_MS = 150;
const NEW = `name = "new"
duration = "10 s"
warmup = "2 s"

[channel]
path_loss = "log_distance"
error_model = "nist"

[bss]
standard = "802.11ax"
channel_width = "80 MHz"

[bss.ap]
position = ["0 m", "0 m"]

[[station]]
name = "near"
position = ["4 m", "2 m"]

[[station]]
name = "far"
position = ["-12 m", "6 m"]

[wired]
rate = "1 Gbit/s"
delay = "10 ms"

[[flow]]
station = "*"
direction = "down"
`;

/** Shows the editor; `from` is the key of the text's source. */
export async function show(main, { from = '', paper = '', claim = '', run = '' }) {
  const origin = paper ? `/api/papers/${paper}/runs/${claim}/${run || 0}` : from ? `/api/scenarios/${from}` : '';
  const opened = origin ? await askJson(origin) : { name: 'new', text: NEW, key: '', place: '' };
  document.title = `${opened.name} · scenario · lasthop`;
  const { entries } = await askJson('/api/entries');
  const page = new ScenarioPage(
    opened,
    entries.filter((entry) => entry.kind === 'scenario'),
  );
  main.replaceChildren(page.made);
  page.begin();
}

class ScenarioPage {
  constructor(opened, scenarios) {
    this.opened = opened;
    this.scenarios = scenarios;
    this.asked = 0;
    this.moves = Promise.resolve();
    this.isChanged = false;
    this.said = element('div', { class: 'said', role: 'status', 'aria-live': 'polite' });
    this.place = element('div', { class: 'editor' });
    this.mapPlace = element('div', {});
    this.theory = element('div', { class: 'scroll' });
    this.defaults = element('div', {});
    this.jobs = element('div', {});
    this.made = element(
      'div',
      { class: 'scenario-page' },
      element('div', { class: 'scenario-text' }, this.head(), this.place, this.said),
      element(
        'aside',
        { class: 'beside' },
        this.runBox(),
        box('Map', this.mapPlace, true),
        box('Closed forms', this.theory, false, () => this.askTheory()),
        box('Defaults that depend on the scenario', this.defaults, false),
      ),
    );
  }

  head() {
    this.name = element('h1', {}, this.opened.name);
    return element(
      'div',
      { class: 'row' },
      this.name,
      this.others(),
      ...saving(
        this.opened,
        () => this.editor.text,
        () => this.saved(),
      ),
    );
  }

  /** A choice of the scenarios of these directories and of those that come with lasthop. */
  others() {
    const options = (ready) =>
      this.scenarios
        .filter((entry) => entry.ready === ready)
        .map((entry) => element('option', { value: entry.key, selected: entry.key === this.opened.key }, entry.name));
    const [own, ready] = [options(false), options(true)];
    return element(
      'select',
      {
        'aria-label': 'open another scenario',
        id: 'others',
        onchange: (event) => event.target.value && location.assign(`/scenario?from=${event.target.value}`),
      },
      element('option', { value: '' }, 'open a scenario …'),
      own.length ? element('optgroup', { label: 'here' }, ...own) : '',
      element('optgroup', { label: 'that come with lasthop' }, ...ready),
    );
  }

  runBox() {
    this.seeds = element('input', { type: 'number', min: 1, max: 1000, value: 1, id: 'seeds', class: 'short' });
    this.records = element('input', { type: 'checkbox', id: 'records', checked: true });
    this.run = element('button', { type: 'button', class: 'main', id: 'run', onclick: () => this.begun() }, 'Run');
    return element(
      'section',
      { class: 'box run-box', 'aria-label': 'run' },
      element(
        'div',
        { class: 'row' },
        element('label', { for: 'seeds' }, 'Seeds'),
        this.seeds,
        element(
          'label',
          { title: 'every frame, segment and backoff; of more than five seeds those of the first' },
          this.records,
          ' record the air',
        ),
        this.run,
      ),
      this.jobs,
    );
  }

  begin() {
    let vocabulary = null;
    this.editor = new Editor(this.place, this.opened.text, {
      vocabulary: () => vocabulary,
      changed: () => this.changed(),
    });
    this.map = new PlaceMap(this.mapPlace, (what) => this.move(what));
    window.addEventListener('beforeunload', (event) => {
      if (this.isChanged) event.preventDefault();
    });
    Promise.all([askJson('/api/schema'), askJson('/api/registry')]).then(
      ([schema, registry]) => {
        vocabulary = new Vocabulary(schema, registry);
      },
      (error) => note(error.message),
    );
    askJson('/api/jobs').then(
      ({ jobs }) =>
        jobs
          .filter((job) => ['running', 'waiting'].includes(job.state))
          .forEach((job) => this.jobs.append(jobPanel(job))),
      () => {},
    );
    this.check();
  }

  changed() {
    this.isChanged = this.editor.text !== this.opened.text;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), PAUSE_MS);
  }

  saved() {
    this.opened.text = this.editor.text;
    this.isChanged = false;
  }

  body(more = {}) {
    return { text: this.editor.text, from: this.opened.key, ...more };
  }

  async check() {
    const turn = ++this.asked;
    clearTimeout(this.timer);
    const body = this.body();
    let answer;
    try {
      answer = await sendJson('/api/check', body);
    } catch (error) {
      this.said.replaceChildren(element('p', { class: 'failure' }, error.message));
      return;
    }
    if (turn !== this.asked || body.text !== this.editor.text) return;
    this.show(answer);
  }

  show(answer) {
    const isWrong = answer.problems.length > 0;
    this.editor.mark(answer.problems);
    this.run.disabled = isWrong;
    this.made.dataset.checked = isWrong ? 'wrong' : 'right';
    const problems = answer.problems.map((each) =>
      element(
        'p',
        { class: 'failure' },
        element(
          'button',
          { type: 'button', class: 'place', onclick: () => this.editor.goTo(each.begin) },
          `line ${each.line}`,
        ),
        ` ${each.where ? `${each.where}: ` : ''}${each.message}`,
        each.remedy && element('span', { class: 'remedy' }, each.remedy),
      ),
    );
    const warnings = answer.warnings.map((text) => element('p', { class: 'warning' }, text));
    this.said.replaceChildren(
      ...(problems.length
        ? problems
        : [element('p', { class: 'quiet' }, 'No errors.'), ...warnings]),
    );
    this.map.show(answer.places);
    if (isWrong) return;
    this.name.textContent = answer.resolved.name || this.opened.name;
    this.defaults.replaceChildren(defaultsTable(answer.defaults));
    if (this.theory.closest('details').open) this.askTheory();
    else this.theoryText = null;
  }

  async askTheory() {
    if (this.theoryText === this.editor.text) return;
    this.theoryText = this.editor.text;
    try {
      const { rows, why } = await sendJson('/api/theory', this.body());
      this.theory.replaceChildren(rows.length ? theoryTable(rows) : element('p', { class: 'quiet' }, why));
    } catch (error) {
      this.theory.replaceChildren(element('p', { class: 'failure' }, error.message));
    }
  }

  /** Moves are applied one after another, as each changes the text that the last one left. */
  move(what) {
    this.moves = this.moves
      .then(() => this.written(what))
      .catch((error) => {
        note(error.message);
        this.map.draw();
      });
  }

  async written(what) {
    const text = this.editor.text;
    const { edits } = await sendJson('/api/move', this.body(what));
    if (this.editor.text !== text) throw new Error('the text changed meanwhile; move it again');
    this.editor.change(edits);
    await this.check();
  }

  /** Goes to the run that has ended, unless the text was changed meanwhile. The run keeps the text, so nothing is lost. */
  ran(told, text) {
    if (told.state !== 'done' || !told.key || this.editor.text !== text) return;
    this.isChanged = false;
    location.assign(told.link ?? `/run/${told.key}`);
  }

  async begun() {
    const seeds = Number(this.seeds.value);
    if (!Number.isInteger(seeds) || seeds < 1) return note('Seeds: a whole number from 1 on');
    this.run.disabled = true;
    const text = this.editor.text;
    try {
      const job = await sendJson(
        '/api/runs',
        this.body({ seeds, name: this.name.textContent, record: this.records.checked }),
      );
      this.jobs.prepend(jobPanel(job, (told) => this.ran(told, text)));
    } catch (error) {
      note(error.message);
    }
    this.run.disabled = this.made.dataset.checked === 'wrong';
  }
}

function box(title, content, open, opened = () => {}) {
  const made = element('details', { class: 'box', open }, element('summary', {}, title), content);
  made.addEventListener('toggle', () => made.open && opened());
  return made;
}

function theoryTable(rows) {
  const line = (row) =>
    element(
      'tr',
      {},
      element('td', {}, row.quantity, row.note && element('span', { class: 'quiet remark' }, row.note)),
      element(
        'td',
        { class: 'number' },
        row.closed_form == null
          ? '–'
          : row.unit
            ? withPrefix(row.closed_form, row.unit)
            : Number(row.closed_form.toPrecision(4)),
      ),
      element('td', { class: 'quiet' }, row.source ?? ''),
    );
  return element(
    'table',
    {},
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        element('th', {}, 'quantity'),
        element('th', { class: 'number' }, 'closed form'),
        element('th', {}, 'source'),
      ),
    ),
    element('tbody', {}, ...rows.map(line)),
  );
}

function defaultsTable(defaults) {
  if (!defaults.length) return element('p', { class: 'quiet' }, 'The text says all of them itself.');
  const line = ({ key, value, because }) =>
    element(
      'tr',
      {},
      element('td', {}, element('code', {}, key)),
      element('td', {}, element('code', {}, value)),
      element('td', { class: 'quiet' }, because),
    );
  return element(
    'div',
    { class: 'scroll' },
    element(
      'table',
      {},
      element(
        'thead',
        {},
        element('tr', {}, ...['key', 'default', 'because of'].map((word) => element('th', {}, word))),
      ),
      element('tbody', {}, ...defaults.map(line)),
    ),
  );
}
