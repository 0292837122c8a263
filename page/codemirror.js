// What the scenario editor takes of CodeMirror 6, as one module.

export { autocompletion, completionKeymap, closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
export { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
export { bracketMatching, HighlightStyle, indentOnInput, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
export { toml } from '@codemirror/legacy-modes/mode/toml';
export { forceLinting, lintGutter, lintKeymap, linter, setDiagnostics } from '@codemirror/lint';
export { highlightSelectionMatches, openSearchPanel, searchKeymap } from '@codemirror/search';
export { Annotation, Compartment, EditorSelection, EditorState, Prec } from '@codemirror/state';
export {
  drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap, lineNumbers,
} from '@codemirror/view';
export { tags } from '@lezer/highlight';
