import { useState, type ReactNode } from 'react';
import { DataTable, type Column } from './data-table.tsx';
import { jsonText } from './json.tsx';
import { None } from './values.tsx';

/** A record as it was or would be: its fields by their names; null: there is none. */
type State = Readonly<Record<string, unknown>> | null;

interface Field {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

const Value = ({ of }: { readonly of: unknown }): ReactNode =>
  of === undefined || of === null ? (
    <None />
  ) : (
    <bdi>{typeof of === 'string' ? of : jsonText(of)}</bdi>
  );

const isChanged = ({ before, after }: Field): boolean => jsonText(before) !== jsonText(after);

const beforeAndAfter: readonly Column<Field>[] = [
  { name: 'Field', show: ({ name }) => name },
  { name: 'Before', show: ({ before }) => <Value of={before} /> },
  { name: 'After', show: ({ after }) => <Value of={after} /> },
];

const columns: readonly Column<Field>[] = [
  ...beforeAndAfter,
  {
    name: 'Change',
    show: (field) => (isChanged(field) ? <strong>changes</strong> : <span>stays</span>),
  },
];

function fieldsOf(before: State, after: State): Field[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names].map((name) => ({ name, before: before?.[name], after: after?.[name] }));
}

/** All fields of a record that would change; what changes comes first. */
export function Changes({ before, after }: { readonly before: State; after: State }): ReactNode {
  const fields = fieldsOf(before, after).sort(
    (a, b) => Number(isChanged(b)) - Number(isChanged(a)),
  );
  return fields.length === 0 ? (
    <p className="muted">It changes no record by itself.</p>
  ) : (
    <DataTable
      caption="Before and after"
      columns={columns}
      rows={fields}
      keyOf={({ name }) => name}
    />
  );
}

/** The fields of a record that did change; a list has many of these, and few are opened. */
export function Changed({ before, after }: { readonly before: State; after: State }): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  const fields = fieldsOf(before, after).filter(isChanged);
  return fields.length === 0 ? (
    <None />
  ) : (
    <details className="changed" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{fields.length === 1 ? '1 field' : `${String(fields.length)} fields`}</summary>
      {isOpen ? (
        <DataTable
          caption="What changed"
          columns={beforeAndAfter}
          rows={fields}
          keyOf={({ name }) => name}
        />
      ) : null}
    </details>
  );
}
