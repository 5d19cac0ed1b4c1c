import { useEffect, useId, useRef, type ReactNode } from 'react';
import { isNumberText } from '../api/exact-json.ts';
import type { ApiProblem } from '../api/problem.ts';
import { membersOf, textIn, type Written } from '../api/written-json.ts';
import { objectOf } from './editor.tsx';

/** What the form of an input asks for. */
export interface DeclaredField {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly isRequired: boolean;
  readonly kind: 'text' | 'date' | 'number' | 'boolean';
  /** Texts that can be chosen, where there are no others. */
  readonly options: readonly string[];
}

/** `periodStart` as `Period start`. */
const wordsOf = (name: string): string => {
  const words = name
    .replaceAll(/[-_]|(?=[A-Z])/g, ' ')
    .toLowerCase()
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

interface Property {
  readonly type?: unknown;
  readonly format?: unknown;
  readonly enum?: unknown;
  readonly title?: unknown;
  readonly description?: unknown;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** How a member is asked for; undefined: it is more than one line says. */
function kindOf({ type, format }: Property): DeclaredField['kind'] | undefined {
  const types = (Array.isArray(type) ? type : [type]).filter((one) => one !== 'null');
  if (types.length !== 1) return undefined;
  if (types[0] === 'boolean') return 'boolean';
  if (types[0] === 'integer' || types[0] === 'number') return 'number';
  if (types[0] !== 'string') return undefined;
  return format === 'date' ? 'date' : 'text';
}

/** What an input declares; undefined: some of it needs more than a line, so that JSON is shown, too. */
export function declaredFields(dataSchema: Written): {
  readonly fields: readonly DeclaredField[];
  readonly isAll: boolean;
} {
  const { properties = {}, required = [] } = (objectOf(dataSchema.json) ?? {}) as {
    readonly properties?: Readonly<Record<string, Property>>;
    readonly required?: readonly string[];
  };
  const declared = Object.entries(properties);
  const fields = declared.flatMap(([name, property]) => {
    const kind = kindOf(property);
    if (kind === undefined) return [];
    const values = Array.isArray(property.enum) ? (property.enum as unknown[]) : [];
    return [
      {
        name,
        label: textOf(property.title) || wordsOf(name),
        hint: textOf(property.description),
        isRequired: required.includes(name),
        kind,
        options: values.filter((value) => typeof value === 'string'),
      },
    ];
  });
  return { fields, isAll: fields.length > 0 && fields.length === declared.length };
}

/** The same object with another value of a member; without it where it is empty. */
function withMember(text: string, { name, kind }: DeclaredField, value: string): string {
  const members = new Map(membersOf({ json: text }));
  const isWritten = kind === 'boolean' || (kind === 'number' && isNumberText(value));
  if (value === '') members.delete(name);
  else members.set(name, { json: isWritten ? value : JSON.stringify(value) });
  const parts = [...members].map(([key, { json }]) => `${JSON.stringify(key)}: ${json}`);
  return parts.length === 0 ? '{}' : `{${parts.join(', ')}}`;
}

const yesOrNo = [
  ['true', 'Yes'],
  ['false', 'No'],
] as const;

/** What can be chosen, as [value, words]; none: anything is typed. */
const choicesOf = ({
  kind,
  options,
  isRequired,
}: DeclaredField): readonly (readonly [value: string, words: string])[] => {
  const chosen = kind === 'boolean' ? yesOrNo : options.map((option) => [option, option] as const);
  return chosen.length === 0 ? [] : [['', isRequired ? 'Choose' : 'Left out'], ...chosen];
};

function Line({
  of,
  text,
  fault,
  isFirst,
  onChange,
}: {
  readonly of: DeclaredField;
  readonly text: string;
  /** Why it was refused. */
  readonly fault: string | undefined;
  /** Whether it is the first that was: it is where to go on. */
  readonly isFirst: boolean;
  readonly onChange: (text: string) => void;
}): ReactNode {
  const hintId = useId();
  const written = membersOf({ json: text }).get(of.name);
  const value = written === undefined ? '' : (textIn(written) ?? written.json);
  const change = (typed: string): void => onChange(withMember(text, of, typed));
  const choices = choicesOf(of);
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isFirst) line.current?.querySelector<HTMLElement>('input, select')?.focus();
  }, [isFirst]);
  const isNoNumber = of.kind === 'number' && value !== '' && !isNumberText(value);
  const common = {
    name: of.name,
    value,
    'aria-describedby': hintId,
    'aria-required': of.isRequired,
    'aria-invalid': fault !== undefined || isNoNumber,
  };
  return (
    <div className="declared" ref={line}>
      <label>
        <span>{of.isRequired ? of.label : `${of.label}, if any`}</span>
        {choices.length > 0 ? (
          <select {...common} onChange={({ target }) => change(target.value)}>
            {choices.map(([option, words]) => (
              <option key={option} value={option}>
                {words}
              </option>
            ))}
          </select>
        ) : (
          <input
            {...common}
            type={of.kind === 'date' ? 'date' : 'text'}
            inputMode={of.kind === 'number' ? 'decimal' : undefined}
            onChange={({ target }) => change(target.value)}
          />
        )}
      </label>
      <p id={hintId} className={fault === undefined ? 'muted' : 'bad'}>
        {fault?.replace(`'${of.name}'`, `“${of.label}”`) ?? of.hint}
      </p>
    </div>
  );
}

/** A line for each of these members of an input, which is JSON: what is chosen is written there. */
export const DeclaredFields = ({
  fields,
  text,
  faults,
  isDisabled,
  onChange,
}: {
  readonly fields: readonly DeclaredField[];
  /** A JSON object. */
  readonly text: string;
  /** What was refused of it. */
  readonly faults: ApiProblem['fields'];
  readonly isDisabled: boolean;
  readonly onChange: (text: string) => void;
}): ReactNode => {
  const refused = new Map(faults.map(({ field, message }) => [field, message]));
  const first = fields.find(({ name }) => refused.has(name));
  return (
    <fieldset className="fields" disabled={isDisabled}>
      <legend className="heard">Input</legend>
      {fields.map((field) => (
        <Line
          key={field.name}
          of={field}
          text={text}
          fault={refused.get(field.name)}
          isFirst={field === first}
          onChange={onChange}
        />
      ))}
    </fieldset>
  );
};
