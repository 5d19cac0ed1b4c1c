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

/**
 * What was chosen; where the address changes, that, and the focus stays where it is. What is applied while
 * it is typed is not written over by the address, which is behind it.
 */
function FieldInput({
  name,
  value,
  type = 'text',
  hint,
  options,
  isAtOnce,
}: FilterField & { readonly isAtOnce: boolean }): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  const select = useRef<HTMLSelectElement>(null);
  useEffect(() => {
    const element = input.current ?? select.current;
    const isTyped = isAtOnce && document.activeElement === element;
    if (element && !isTyped) element.value = value;
  }, [value, isAtOnce]);
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

/** How long somebody rests before what was chosen is applied. */
const restMs = 300;

/** Filters that are in the address, so that a view can be sent to somebody. */
export function Filters({
  label,
  fields,
  onApply,
  isAtOnce = false,
  children,
}: {
  readonly label: string;
  readonly fields: readonly FilterField[];
  readonly onApply: (texts: Readonly<Record<string, string>>) => void;
  /** Applied as they are chosen, without a button. */
  readonly isAtOnce?: boolean;
  readonly children?: ReactNode;
}): ReactNode {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const applySoon = (form: HTMLFormElement): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onApply(textsOf(form)), restMs);
  };
  return (
    <form
      aria-label={label}
      className="fields"
      onChange={({ currentTarget }) => {
        if (isAtOnce) applySoon(currentTarget);
      }}
      onSubmit={(event) => {
        event.preventDefault();
        clearTimeout(timer.current);
        onApply(textsOf(event.currentTarget));
      }}
    >
      {fields.map((field) => (
        <label key={field.name}>
          <span>{field.label}</span>
          <FieldInput {...field} isAtOnce={isAtOnce} />
        </label>
      ))}
      {isAtOnce ? null : <button type="submit">Show</button>}
      {children}
    </form>
  );
}
