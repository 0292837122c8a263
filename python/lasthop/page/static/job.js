// A run in progress on the server: its progress, and a button that stops it.

import { ask, askJson, element, note, withPrefix } from 'lasthop/ui.js';

const PATIENCE = 4;
const WORDS = {
  waiting: 'waits for the run before it',
  running: 'running',
  done: 'done',
  stopped: 'stopped',
  failed: 'failed',
};

/** A mean and its interval as `24.1 ± 0.3 Mbit/s`. */
export function meanOf(found) {
  if (!found || found.mean == null) return '–';
  const said = withPrefix(found.mean, 'bit/s');
  if (found.ci95_high == null) return said;
  const [mean, unit] = said.split(' ');
  const half = (found.ci95_high - found.mean) / (found.mean / Number(mean) || 1);
  return `${mean} ± ${Number(half.toPrecision(2))} ${unit}`;
}

/** Shows a job in a panel that follows it; `ended` is called with its final state. */
export function jobPanel(job, ended = () => {}) {
  const bar = element('progress', { max: 1, value: job.fraction, 'aria-label': `progress of ${job.name}` });
  const said = element('p', { role: 'status' });
  const stop = element('button', { type: 'button', onclick: () => stopped(job.id) }, 'Stop');
  const after = element('p', {});
  const panel = element(
    'div',
    { class: 'job', 'data-job': job.id },
    element('div', { class: 'row' }, bar, stop),
    said,
    after,
  );
  const show = (told) => {
    bar.value = told.fraction;
    panel.dataset.state = told.state;
    const headline = told.headline ? `; ${told.headline.metric} ${meanOf(told.headline)}` : '';
    said.textContent = `${told.name}: ${WORDS[told.state]}, ${told.finished} of ${told.of} ${told.unit} finished${headline}`;
    if (['done', 'stopped', 'failed'].includes(told.state)) {
      stop.remove();
      after.replaceChildren(...end(told));
      ended(told);
    }
  };
  show(job);
  if (!['done', 'stopped', 'failed'].includes(job.state)) follow(job.id, show);
  return panel;
}

function end(told) {
  const link =
    told.key && element('a', { class: 'open', href: told.link ?? `/run/${told.key}` }, told.linked ?? 'Open the run');
  const error = told.error && element('span', { class: 'failure' }, ` ${told.error}`);
  return [link, error].filter(Boolean);
}

// A browser opens six connections to a server, and requests need some of them.
const STREAMS = 2;
const EVERY = 2000;
let streams = 0;

/** Passes the progress of a job to `show`: by a stream, or by polling for all jobs after the first ones. */
function follow(id, show) {
  if (streams >= STREAMS) return poll(id, show);
  streams += 1;
  const source = new EventSource(`/api/jobs/${id}/events`);
  let inVain = 0;
  source.addEventListener('message', (event) => {
    const told = JSON.parse(event.data);
    inVain = 0;
    show(told);
    if (['done', 'stopped', 'failed'].includes(told.state)) close();
  });
  const close = () => {
    streams -= 1;
    source.close();
  };
  source.addEventListener('error', () => {
    // The browser reconnects by itself, unless the server refused.
    inVain += 1;
    if (source.readyState !== EventSource.CLOSED && inVain < PATIENCE) return;
    close();
    note('lasthop no longer tells how the run goes; is `lasthop serve` still running?');
  });
}

async function poll(id, show) {
  try {
    const told = await askJson(`/api/jobs/${id}`);
    show(told);
    if (!['done', 'stopped', 'failed'].includes(told.state)) setTimeout(poll, EVERY, id, show);
  } catch (error) {
    note(error.message);
  }
}

async function stopped(id) {
  try {
    await ask(`/api/jobs/${id}`, { method: 'DELETE' });
  } catch (error) {
    note(error.message);
  }
}
