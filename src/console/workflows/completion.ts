import type { Cursor, Part } from './cursor.ts';

/** A part of a JSON Schema. */
export interface Form {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Form | false>>;
  readonly additionalProperties?: Form | boolean;
  readonly items?: Form;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Form>>;
  readonly anyOf?: readonly Form[];
  readonly oneOf?: readonly Form[];
  readonly allOf?: readonly Form[];
  readonly if?: Form;
  readonly then?: Form;
  readonly else?: Form;
}

/** What can stand at the cursor. */
export interface Choice {
  readonly name: string;
  /** What is written: JSON, of a name with its colon. */
  readonly text: string;
  readonly says: string;
}

const memberOf = (part: Part | undefined, name: string): Part | undefined =>
  part?.kind === 'object'
    ? part.members.get(name)
    : part?.kind === 'list'
      ? part.items[Number(name)]
      : undefined;

const allowed = ({ const: only, enum: some }: Form): readonly unknown[] =>
  only === undefined ? (some ?? []) : [only];

/** Whether a condition on members holds: each that it requires is one of what it allows. */
const holds = ({ properties = {}, required = [] }: Form, part: Part | undefined): boolean =>
  required.every((name) => {
    const member = memberOf(part, name);
    const form = properties[name];
    return member?.kind === 'text' && (!form || allowed(form).some((each) => each === member.text));
  });

const knows = (name: string, { properties = {}, additionalProperties }: Form): boolean =>
  Object.hasOwn(properties, name) || typeof additionalProperties === 'object';

/** Those of several forms that have all that is written; all, where none has. */
function fitting(branches: readonly Form[][], part: Part | undefined): Form[] {
  const names = part?.kind === 'object' ? [...part.members.keys()] : [];
  const fits = branches.filter((forms) =>
    names.every((name) => forms.some((form) => knows(name, form))),
  );
  return (fits.length > 0 ? fits : branches).flat();
}

/** The forms that a form is made of, as far as what is written decides between them. */
function formsOf(form: Form, part: Part | undefined, defs: Form['$defs'] = {}): Form[] {
  const expand = (each: Form): Form[] => formsOf(each, part, defs);
  const referred = form.$ref === undefined ? undefined : defs[form.$ref.replace('#/$defs/', '')];
  if (referred) return expand(referred);
  const chosen = form.if && (holds(form.if, part) ? form.then : form.else);
  return [
    form,
    ...(form.allOf ?? []).flatMap(expand),
    ...fitting((form.anyOf ?? []).map(expand), part),
    ...fitting((form.oneOf ?? []).map(expand), part),
    ...(chosen ? expand(chosen) : []),
  ];
}

/** The forms of what a path leads to. */
function formsAt(schema: Form, root: Part | undefined, path: readonly string[]): Form[] {
  let part = root;
  let forms = formsOf(schema, part, schema.$defs);
  for (const step of path) {
    const isList = part?.kind === 'list';
    part = memberOf(part, step);
    forms = forms.flatMap((form) => {
      const more = form.additionalProperties;
      const next = isList
        ? form.items
        : (form.properties?.[step] ?? (typeof more === 'object' ? more : undefined));
      return next ? formsOf(next, part, schema.$defs) : [];
    });
  }
  return forms;
}

/** The names that an object may have beside those that are written; what it must have comes first. */
function nameChoices(forms: readonly Form[], cursor: Cursor, part: Part | undefined): Choice[] {
  const taken = new Set(part?.kind === 'object' ? part.members.keys() : []);
  const required = new Set(forms.flatMap((form) => form.required ?? []));
  const entries = forms.flatMap(({ properties = {} }) => Object.entries(properties));
  const refused = new Set(entries.filter(([, form]) => form === false).map(([name]) => name));
  const choices = entries.flatMap(([name, form]) => {
    if (form === false || refused.has(name) || taken.has(name)) return [];
    const text = cursor.hasValue ? JSON.stringify(name) : `${JSON.stringify(name)}: `;
    return [{ name, text, says: form.description ?? '' }];
  });
  return choices.sort((a, b) => Number(required.has(b.name)) - Number(required.has(a.name)));
}

/** The names of the tasks behind the one that has this path, and where to go on otherwise. */
function placesToGo(root: Part | undefined, path: readonly string[]): string[] {
  // .../do/<place>/<task>/then, and deeper in the cases of a switch.
  for (let length = path.length - 1; length > 0; length -= 1) {
    const list = path.slice(0, length).reduce(memberOf, root);
    if (list?.kind !== 'list' || ['switch', 'any'].includes(path[length - 1] ?? '')) continue;
    const behind = list.items.slice(Number(path[length]) + 1);
    const names = behind.flatMap((task) =>
      task.kind === 'object' ? [...task.members.keys()] : [],
    );
    return ['continue', 'exit', 'end', ...names];
  }
  return [];
}

/** The values that can stand there, as far as they have names. */
function valueChoices(
  forms: readonly Form[],
  { path, root }: Cursor,
  operations: readonly string[],
): Choice[] {
  const last = path.at(-1);
  const named = last === 'then' ? placesToGo(root, path) : last === 'operationId' ? operations : [];
  const values = forms.flatMap((form) => [
    ...allowed(form),
    ...(form.type === 'boolean' ? [true, false] : []),
  ]);
  const says = forms.find(({ description }) => description !== undefined)?.description ?? '';
  return [...named, ...values].map((value) => ({
    name: String(value),
    text: JSON.stringify(value),
    says,
  }));
}

/** What can stand at the cursor of a definition, what begins as it is typed first. */
export function completionsAt(
  schema: Form,
  cursor: Cursor,
  operations: readonly string[],
): readonly Choice[] {
  const { root, path, expects } = cursor;
  const forms = formsAt(schema, root, path);
  const all =
    expects === 'name'
      ? nameChoices(forms, cursor, path.reduce(memberOf, root))
      : valueChoices(forms, cursor, operations);
  const typed = cursor.typed.toLowerCase();
  const places = new Map<string, Choice>();
  for (const choice of all) {
    const isSought = choice.name.toLowerCase().includes(typed);
    if (isSought && !places.has(choice.name)) places.set(choice.name, choice);
  }
  const begins = ({ name }: Choice): boolean => name.toLowerCase().startsWith(typed);
  return [...places.values()].sort((a, b) => Number(begins(b)) - Number(begins(a)));
}
