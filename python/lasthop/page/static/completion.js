// Completions at a position of a scenario: keys and values of the engine's schema, names of its registry.

const KINDS = {
  congestion_control: 'congestion_control',
  queue: 'queue_discipline',
  rate_control: 'rate_control',
  downlink_rate_control: 'rate_control',
  standard: 'standard',
  error_model: 'error_model',
  path_loss: 'path_loss',
  fading: 'fading',
  traffic: 'traffic',
  profile: 'tcp.profile',
};

/**
 * The context of a position of the text: in a `header`, a `key` or a `value`.
 * `path` leads to the table (for a value, to its key), `from` is the start of the word, `kind` the `kind` of the inline table,
 * `present` the keys before it in its table, `inString` whether the word is quoted. Null in a comment.
 */
export function contextAt(text, position) {
  const begin = text.lastIndexOf('\n', position - 1) + 1;
  const line = text.slice(begin, position);
  const header = /^\s*\[\[?\s*([\w.-]*)$/.exec(line);
  if (header && !withinList(text, begin))
    return { state: 'header', path: [], from: position - header[1].length, present: new Set() };
  const section = sectionBefore(text, begin);
  return scan(text, section.end, position, section.path);
}

const HEADER = /^[ \t]*\[\[?[ \t]*([\w."-]+(?:[ \t]*\.[ \t]*[\w."-]+)*)[ \t]*\]\]?[^\n]*$/gm;

/** The last header before a position: its words, and the end of its line. */
function sectionBefore(text, before) {
  let found = { path: [], end: 0 };
  for (const match of text.slice(0, before).matchAll(HEADER)) {
    found = {
      path: match[1].split('.').map((word) => word.trim().replaceAll('"', '')),
      end: match.index + match[0].length,
    };
  }
  return found;
}

function withinList(text, begin) {
  const context = scan(text, sectionBefore(text, begin).end, begin, []);
  return context?.state === 'value';
}

/** Reads from the header of a section up to a position. */
function scan(text, at, end, section) {
  const stack = [{ path: section, present: new Set(), kind: null, isTable: true }];
  let key = '',
    state = 'key',
    from = at,
    string = '';
  const top = () => stack.at(-1);
  const begins = (where) => {
    state = where;
    key = '';
  };
  for (let index = at; index < end; index++) {
    const letter = text[index];
    if (string) {
      if (letter === '\\' && string === '"') index++;
      else if (letter === string) string = '';
      else if (letter === '\n') {
        string = '';
        begins('key');
        from = index + 1;
      }
      if (!string && state === 'value') sayKind(top(), text.slice(from, index + 1));
      continue;
    }
    if (letter === '#') {
      const next = text.indexOf('\n', index);
      if (next < 0 || next >= end) return null;
      index = next - 1;
    } else if (letter === '"' || letter === "'") {
      string = letter;
      from = index;
    } else if (letter === '\n') {
      if (top().isTable && stack.length === 1) begins('key');
      from = index + 1;
    } else if (letter === '=') {
      key = text.slice(from, index).trim().replaceAll('"', '');
      top().present.add(key.split('.')[0]);
      top().key = key;
      state = 'value';
      from = index + 1;
    } else if (letter === '{' || letter === '[') {
      const path = top().isTable ? [...top().path, ...(top().key ?? '').split('.').filter(Boolean)] : top().path;
      stack.push({ path, present: new Set(), kind: null, isTable: letter === '{' });
      begins(letter === '{' ? 'key' : 'value');
      from = index + 1;
    } else if (letter === '}' || letter === ']') {
      if (stack.length > 1) stack.pop();
      state = 'value';
      from = index + 1;
    } else if (letter === ',') {
      begins(top().isTable ? 'key' : 'value');
      from = index + 1;
    } else if (/\s/.test(letter) && !text.slice(from, index).trim()) from = index + 1;
  }
  const { path, present, kind, isTable } = top();
  const whole = state === 'value' && isTable ? [...path, ...(top().key ?? '').split('.')] : path;
  return { state, path: whole, from, present, kind, inString: string !== '', written: text.slice(from, end) };
}

function sayKind(table, said) {
  if (table.key === 'kind') table.kind = said.trim().slice(1, -1);
}

/** A schema with its definitions inserted at each reference. */
export function expanded(schema, definitions = schema.$defs ?? {}) {
  if (Array.isArray(schema)) return schema.map((each) => expanded(each, definitions));
  if (!schema || typeof schema !== 'object') return schema;
  const { $ref, $defs: _, ...own } = schema;
  const entries = Object.entries(own).map(([key, value]) => [key, expanded(value, definitions)]);
  const referred = $ref ? expanded(definitions[$ref.slice('#/$defs/'.length)], definitions) : {};
  return { ...referred, ...Object.fromEntries(entries) };
}

/** All schemas allowed in a place, without the lists and choices around them. */
export function alternatives(schema) {
  if (!schema) return [];
  if (schema.anyOf) return schema.anyOf.flatMap(alternatives);
  if (schema.type === 'array') return alternatives(schema.items);
  return [schema];
}

/** The schema at a path, with the description of its key. */
export function schemaAt(schema, path) {
  let found = [schema];
  for (const word of path) {
    if (/^\d+$/.test(word)) continue;
    found = found
      .flatMap(alternatives)
      .map((each) => each.properties?.[word])
      .filter(Boolean);
  }
  return found;
}

function tableKeys(schema, context) {
  let tables = schemaAt(schema, context.path)
    .flatMap(alternatives)
    .filter((each) => each.properties);
  const fitting = tables.filter((each) => each.properties.kind?.const === context.kind);
  if (context.kind && fitting.length) tables = fitting;
  const keys = new Map();
  for (const table of tables) {
    for (const [name, told] of Object.entries(table.properties)) if (!keys.has(name)) keys.set(name, told);
  }
  return keys;
}

const toml = (value) => (typeof value === 'string' ? JSON.stringify(value) : String(value));

/** The text about a key: its description, its unit, its default. */
export function described(told) {
  const alternative = alternatives(told);
  const units = [...new Set(alternative.map((each) => each.title).filter(Boolean))].join(' or ');
  const examples = [...new Set(alternative.flatMap((each) => each.examples ?? []))].slice(0, 2).map(toml).join(', ');
  const fallback = told.default === undefined || told.default === null ? '' : JSON.stringify(told.default);
  return {
    text: told.description ?? '',
    unit: [units, examples && `e.g. ${examples}`].filter(Boolean).join(', '),
    default: fallback.length > 60 ? '' : fallback,
  };
}

/** Names and their meanings, by key of a scenario. */
export class Vocabulary {
  constructor(schema, registry) {
    this.schema = expanded(schema);
    this.registry = registry;
  }

  /** The registry's entry for a name that is the value of a key. */
  entry(path, name) {
    const key = path.at(-1) === 'kind' ? path.at(-2) : path.at(-1);
    return this.registry.find((each) => each.kind === KINDS[key] && each.name === name);
  }

  /** Completions at a position: `from`, and options with label, detail, info and the text to insert. */
  at(text, position) {
    const context = contextAt(text, position);
    if (!context) return null;
    if (context.state === 'header') return { from: context.from, options: this.sections() };
    if (context.state === 'key') return { from: context.from, options: this.keys(context) };
    const options = this.values(context);
    // A complete value needs no completion, which would take the Enter after it for itself.
    return options.some(({ label }) => label === context.written.trim()) ? null : { from: context.from, options };
  }

  sections() {
    const top = Object.entries(this.schema.properties).filter(([, told]) =>
      alternatives(told).some((each) => each.type === 'object'),
    );
    return [
      ...top.map(([name, told]) => ({ label: name, type: 'namespace', info: told.description })),
      { label: 'bss.ap', type: 'namespace' },
    ];
  }

  keys(context) {
    const options = [];
    for (const [name, told] of tableKeys(this.schema, context)) {
      if (context.present.has(name)) continue;
      const facts = described(told);
      options.push({
        label: name,
        apply: `${name} = `,
        type: 'property',
        detail: facts.default,
        info: [facts.text, facts.unit].filter(Boolean).join('\n'),
      });
    }
    return options;
  }

  values(context) {
    const found = new Map();
    const add = (label, more) => found.has(label) || found.set(label, { label, ...more });
    const told = schemaAt(this.schema, context.path);
    const fallback = told.find((each) => each.default !== undefined)?.default;
    for (const each of told.flatMap(alternatives)) {
      for (const word of each.enum ?? (each.const === undefined ? [] : [each.const])) {
        const entry = this.entry(context.path, word);
        add(toml(word), { type: 'constant', info: entry?.summary, detail: word === fallback ? 'default' : undefined });
      }
      if (each.type === 'boolean') [true, false].forEach((word) => add(toml(word), { type: 'keyword' }));
      for (const example of each.examples ?? []) add(toml(example), { type: 'text', detail: each.title, boost: -10 });
      const kind = each.properties?.kind?.const;
      if (kind && !context.inString && Object.keys(each.properties).length > 1) {
        const parameters = Object.keys(each.properties)
          .filter((name) => name !== 'kind')
          .join(', ');
        add(`{ kind = ${toml(kind)} }`, { type: 'class', boost: -5, info: `with ${parameters}` });
      }
    }
    return [...found.values()];
  }
}
