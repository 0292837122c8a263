// A report: the page of one run or two, with answers stored in the file itself.

import { element, note, toggleTheme } from 'lasthop/ui.js';
import { readColours } from 'lasthop/palette.js';
import { RunPage } from 'lasthop/run.js';
import { showBeside } from 'lasthop/compare_view.js';

/** The answers in the file, by address. */
async function unpacked() {
  const text = document.getElementById('answers').textContent;
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const line = bytes.indexOf(10);
  const directory = JSON.parse(new TextDecoder().decode(bytes.subarray(0, line)));
  const answers = new Map();
  let at = line + 1;
  for (const [address, length] of Object.entries(directory)) {
    answers.set(address, bytes.subarray(at, at + length));
    at += length;
  }
  return answers;
}

/** The server's answers for one run; null for those that the file does not have. */
function sourceOf(answers, side) {
  const get = (address) => answers.get(`${side}/${address}`) ?? null;
  return {
    bytes: async (address) => get(address)?.slice() ?? null,
    json: async (address) => {
      const found = get(address);
      return found && JSON.parse(new TextDecoder().decode(found));
    },
  };
}

async function open() {
  readColours();
  const answers = await unpacked();
  const main = document.getElementById('main');
  const pages = [];
  for (const side of [0, 1]) {
    const source = sourceOf(answers, side);
    const run = await source.json('');
    if (run) pages.push({ run, page: new RunPage(run, source) });
  }
  const [{ run, page }] = pages;
  const [from, to] = run.window;
  const said = element(
    'p',
    { class: 'quiet' },
    `Frames and segments are told one by one from ${(from / 1e9).toFixed(3)} s to ${(to / 1e9).toFixed(3)} s; `,
    element('button', { class: 'link', type: 'button', onclick: () => page.view.show(from, to, true) }, 'show these'),
    '.',
  );
  if (pages.length === 1) {
    main.replaceChildren(said, page.box);
    page.start({});
  } else {
    const section = element('section', {});
    main.replaceChildren(said, section);
    showBeside(
      section,
      pages.map((one) => one.page),
    );
    const compared = answers.get('compared');
    if (compared) {
      const { differences } = await import('lasthop/compare.js');
      section.before(...differences(JSON.parse(new TextDecoder().decode(compared))));
    }
  }
  document.body.dataset.ready = 'true';
}

document.getElementById('theme').addEventListener('click', toggleTheme);
open().catch((error) => {
  document.getElementById('main').replaceChildren(element('p', { class: 'failure' }, error.message));
  note(error.message);
});
