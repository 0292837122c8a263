// What the scenario editor takes of CodeMirror 6, as one module.

export { autocompletion, completionKeymap, closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
export { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
export { bracketMatching, HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
export { toml } from '@codemirror/legacy-modes/mode/toml';
export { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
export { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
export { Annotation, EditorState } from '@codemirror/state';
export { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap, lineNumbers } from '@codemirror/view';
export { tags } from '@lezer/highlight';
