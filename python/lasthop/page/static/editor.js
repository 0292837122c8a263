// The text of a scenario in CodeMirror: colours, completion, meanings of keys, and mistakes at their places.

import * as code from '/static/vendor/codemirror.js';
import { contextAt, described, schemaAt } from 'lasthop/completion.js';
import { element } from 'lasthop/ui.js';

const colours = code.HighlightStyle.define([
  { tag: code.tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: [code.tags.string, code.tags.special(code.tags.string)], color: 'var(--code-text)' },
  { tag: [code.tags.number, code.tags.bool, code.tags.atom], color: 'var(--code-number)' },
  { tag: [code.tags.propertyName, code.tags.definition(code.tags.propertyName)], color: 'var(--accent)' },
  { tag: [code.tags.bracket, code.tags.squareBracket, code.tags.operator], color: 'var(--quiet)' },
]);

const looks = code.EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--ground)', color: 'var(--text)', fontSize: '.93rem' },
  '.cm-scroller': { fontFamily: 'ui-monospace, "DejaVu Sans Mono", monospace', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)', padding: '.4rem 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--quiet)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--active-line)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    maxWidth: '34rem',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-completionInfo': { whiteSpace: 'pre-line', padding: '.3rem .5rem' },
  '.cm-diagnostic': { borderLeft: '4px solid var(--failure)', padding: '.2rem .5rem' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--failure) 1.5px',
    textUnderlineOffset: '3px',
  },
  '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--text)' },
  '.cm-matchingBracket': { backgroundColor: 'var(--selection)' },
});

/** Inserts a completion in place of the word begun, and of a closing quote that is there already. */
function applied(option) {
  return (view, completion, from, to) => {
    const text = option.apply ?? option.label;
    const next = view.state.sliceDoc(to, to + 1);
    const end = text.endsWith('"') && next === '"' ? to + 1 : to;
    view.dispatch({
      changes: { from, to: end, insert: text },
      selection: { anchor: from + text.length },
      userEvent: 'input.complete',
    });
  };
}

function completions(vocabulary) {
  return (context) => {
    const found = vocabulary()?.at(context.state.doc.toString(), context.pos);
    if (!found?.options.length) return null;
    if (
      !context.explicit &&
      found.from === context.pos &&
      !/[=[{,.]\s*$/.test(context.state.sliceDoc(Math.max(0, context.pos - 3), context.pos))
    )
      return null;
    return {
      from: found.from,
      options: found.options.map((option) => ({ ...option, apply: applied(option) })),
      validFor: /^["\w.-]*$/,
    };
  };
}

/** The meaning of the key or name under the pointer. */
function meaning(vocabulary) {
  return (view, position) => {
    const known = vocabulary();
    const text = view.state.doc.toString();
    const [before] = /[\w.-]*$/.exec(text.slice(0, position)),
      [after] = /^[\w.-]*/.exec(text.slice(position));
    const word = before + after,
      from = position - before.length,
      to = position + after.length;
    const context = known && word && contextAt(text, to);
    const told =
      context && (context.state === 'value' ? nameMeaning(known, context, word) : keyMeaning(known, context, word));
    return told
      ? { pos: from, end: to, above: true, create: () => ({ dom: element('div', { class: 'meaning' }, ...told) }) }
      : null;
  };
}

function keyMeaning(known, context, word) {
  const path = context.state === 'header' ? word.split('.') : [...context.path, ...word.split('.')];
  const [told] = schemaAt(known.schema, path);
  if (!told) return null;
  const facts = described(told);
  const lines = [facts.text, facts.unit, facts.default && `default: ${facts.default}`].filter(Boolean);
  return lines.length ? [element('strong', {}, word), ...lines.map((line) => element('div', {}, line))] : null;
}

function nameMeaning(known, context, word) {
  const entry = known.entry(context.path, word);
  return (
    entry && [
      element('strong', {}, entry.name),
      element('div', {}, entry.summary),
      element('div', { class: 'quiet' }, entry.source),
    ]
  );
}

/** An editor in `place`; `changed` is called with the text, and whether the page itself changed it. */
export class Editor {
  constructor(place, text, { vocabulary, changed }) {
    const own = code.Annotation.define();
    this.own = own;
    const told = code.EditorView.updateListener.of((update) => {
      if (update.docChanged)
        changed(
          this.text,
          update.transactions.some((each) => each.annotation(own)),
        );
    });
    this.view = new code.EditorView({
      parent: place,
      state: code.EditorState.create({
        doc: text,
        extensions: [
          code.EditorView.cspNonce.of(document.body.dataset.nonce),
          code.lineNumbers(),
          code.lintGutter(),
          code.highlightActiveLine(),
          code.highlightActiveLineGutter(),
          code.history(),
          code.drawSelection(),
          code.bracketMatching(),
          code.closeBrackets(),
          code.highlightSelectionMatches(),
          code.StreamLanguage.define(code.toml),
          code.syntaxHighlighting(colours),
          looks,
          told,
          code.autocompletion({ override: [completions(vocabulary)] }),
          code.hoverTooltip(meaning(vocabulary)),
          code.keymap.of([
            ...code.closeBracketsKeymap,
            ...code.completionKeymap,
            ...code.lintKeymap,
            ...code.searchKeymap,
            ...code.historyKeymap,
            ...code.defaultKeymap,
          ]),
          code.EditorView.contentAttributes.of({ 'aria-label': 'scenario, TOML', spellcheck: 'false' }),
        ],
      }),
    });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  /** Marks mistakes: `begin`, `until`, `message`, `remedy`. */
  mark(problems) {
    const length = this.view.state.doc.length;
    const marks = problems.map(({ begin, until, message, remedy }) => ({
      from: Math.min(begin, length),
      to: Math.min(until, length),
      severity: 'error',
      message: remedy ? `${message}; ${remedy}` : message,
    }));
    this.view.dispatch(code.setDiagnostics(this.view.state, marks));
  }

  /** Moves the cursor to a position, and scrolls to it. */
  goTo(position) {
    this.view.dispatch({ selection: { anchor: Math.min(position, this.view.state.doc.length) }, scrollIntoView: true });
    this.view.focus();
  }

  /** Changes the text: `edits` have from, to and insert. */
  change(edits) {
    this.view.dispatch({ changes: edits, annotations: this.own.of(true), scrollIntoView: false });
  }

  /** Replaces the whole text. */
  replace(text) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }
}
