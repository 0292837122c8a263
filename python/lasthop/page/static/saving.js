// Saving the text of a scenario: as a download, or in the first directory that the page was opened for.

import { element, note, Refused, sendJson } from 'lasthop/ui.js';

/** A field and buttons that save the text of `text()`; `saved()` is called once it is in a file of the directory. */
export function saving(opened, text, saved) {
  const given = `${(opened.saved && opened.name) || opened.name.replaceAll(/[^\w.-]+/g, '-') || 'scenario'}.toml`;
  const name = element('input', {
    type: 'text',
    value: given,
    'aria-label': 'name of the file',
    class: 'file-name',
    spellcheck: 'false',
  });
  const save = async (replace) => {
    try {
      const { place } = await sendJson(
        `/api/scenarios/${encodeURIComponent(name.value)}`,
        { text: text(), replace },
        'PUT',
      );
      saved();
      note(`saved as ${place}`);
    } catch (error) {
      if (error instanceof Refused && error.status === 409 && !replace)
        again(error.message);
      else note(error.message);
    }
  };
  const asked = element('span', { role: 'alert' });
  const again = (said) => {
    const yes = element(
      'button',
      {
        type: 'button',
        onclick: () => {
          asked.replaceChildren();
          save(true);
        },
      },
      'Replace it',
    );
    const no = element('button', { type: 'button', onclick: () => asked.replaceChildren() }, 'No');
    asked.replaceChildren(`${said.split(';')[0]}. `, yes, no);
    yes.focus();
  };
  const download = () => {
    const address = URL.createObjectURL(new Blob([text()], { type: 'application/toml' }));
    element('a', { href: address, download: name.value }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  };
  return [
    name,
    element('button', { type: 'button', id: 'save', onclick: () => save(false) }, 'Save'),
    element('button', { type: 'button', id: 'download', onclick: download }, 'Download'),
    asked,
  ];
}
