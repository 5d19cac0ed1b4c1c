import { useEffect, useRef, type ReactNode } from 'react';

/** A field of a form of filters. */
export interface FilterField {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly type?: 'date' | 'text';
  readonly hint?: string;
  /** What can be chosen, as [value, words]. */
  readonly options?: readonly (readonly [value: string, words: string])[];
}

/** What was chosen; where the address changes, that, and the focus stays where it is. */
function FieldInput({ name, value, type = 'text', hint, options }: FilterField): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  const select = useRef<HTMLSelectElement>(null);
  useEffect(() => {
    const element = input.current ?? select.current;
    if (element) element.value = value;
  }, [value]);
  return options === undefined ? (
    <input ref={input} type={type} name={name} defaultValue={value} placeholder={hint} />
  ) : (
    <select ref={select} name={name} defaultValue={value}>
      {options.map(([option, words]) => (
        <option key={option} value={option}>
          {words}
        </option>
      ))}
    </select>
  );
}

/** The texts of a form that are not empty, by the names of its fields. */
function textsOf(form: HTMLFormElement): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of new FormData(form)) {
    if (typeof value === 'string' && value.trim() !== '') found[name] = value.trim();
  }
  return found;
}

/** Filters that are in the address, so that a view can be sent to somebody. */
export const Filters = ({
  label,
  fields,
  onApply,
  children,
}: {
  readonly label: string;
  readonly fields: readonly FilterField[];
  readonly onApply: (texts: Readonly<Record<string, string>>) => void;
  readonly children?: ReactNode;
}): ReactNode => (
  <form
    aria-label={label}
    className="fields"
    onSubmit={(event) => {
      event.preventDefault();
      onApply(textsOf(event.currentTarget));
    }}
  >
    {fields.map((field) => (
      <label key={field.name}>
        <span>{field.label}</span>
        <FieldInput {...field} />
      </label>
    ))}
    <button type="submit">Show</button>
    {children}
  </form>
);
