import { useState, type ReactNode } from 'react';
import { leavesOf, linesOf, membersOf, textIn, type Written } from '../api/written-json.ts';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { None } from '../shown/values.tsx';
import { wordsOf } from './happened.ts';

/** A record as it was or would be: its fields by their names; null: there is none. */
type State = Written | null;

interface Field {
  readonly name: string;
  readonly before: Written | undefined;
  readonly after: Written | undefined;
}

const nothing: Written = { json: 'null' };

/** A time in UTC, as records have it. */
const instant = /^(\d{4}-\d{2}-\d{2})T([\d:.]+)(?:Z|\+00:00)$/;

/** A value of a field as it was written, a text without its quotes, and a time as people write it. */
export function Value({ of = nothing }: { readonly of: Written | undefined }): ReactNode {
  if (of.json === nothing.json) return <None />;
  const text = textIn(of);
  const [, day, time] = instant.exec(text ?? '') ?? [];
  if (day === undefined) return <bdi>{text ?? linesOf(of)}</bdi>;
  return (
    <>
      <span className="whole">{day}</span> {time} UTC
    </>
  );
}

const isChanged = ({ before = nothing, after = nothing }: Field): boolean =>
  linesOf(before) !== linesOf(after);

/** A field of a record, and its value in one state. */
export type Said = readonly [name: string, value: Written];
type Show = (said: Said) => ReactNode;

const asWritten: Show = ([, value]) => <Value of={value} />;

const beforeAndAfter = (show: Show): readonly Column<Field>[] => [
  { name: 'Field', show: ({ name }) => wordsOf(name) },
  { name: 'Before', show: ({ name, before = nothing }) => show([name, before]) },
  { name: 'After', show: ({ name, after = nothing }) => show([name, after]) },
];

const columnsOf = (show: Show): readonly Column<Field>[] => [
  ...beforeAndAfter(show),
  {
    name: 'Change',
    show: (field) => (isChanged(field) ? <strong>changes</strong> : <span>stays</span>),
  },
];

function fieldsOf(before: State, after: State, partsOf: typeof membersOf): Field[] {
  const [was, is] = [before ?? nothing, after ?? nothing].map((state) => partsOf(state));
  const names = new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])]);
  return [...names].map((name) => ({ name, before: was?.get(name), after: is?.get(name) }));
}

/** A table of more is no help to whoever decides. */
const fieldsMax = 500;

/** Fields as a table, as far as it helps. */
function FieldTable<Row extends { readonly name: string }>({
  caption,
  columns: shown,
  fields,
}: {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly fields: readonly Row[];
}): ReactNode {
  return (
    <>
      <DataTable
        caption={caption}
        columns={shown}
        rows={fields.slice(0, fieldsMax)}
        keyOf={({ name }) => name}
      />
      {fields.length > fieldsMax ? (
        <p>
          The first {String(fieldsMax)} of {String(fields.length)} fields.
        </p>
      ) : null}
    </>
  );
}

/** All fields of a record that would change, down to those of its parts; what changes comes first. */
export function Changes({
  before,
  after,
  areOthersShown = true,
  show = asWritten,
}: {
  readonly before: State;
  readonly after: State;
  readonly show?: Show;
  /** Whether what stays is shown, too. */
  readonly areOthersShown?: boolean;
}): ReactNode {
  const fields = fieldsOf(before, after, leavesOf)
    .filter((field) => areOthersShown || isChanged(field))
    .sort((a, b) => Number(isChanged(b)) - Number(isChanged(a)));
  if (fields.length === 0) return <p className="muted">It changes no record by itself.</p>;
  return <FieldTable caption="Before and after" columns={columnsOf(show)} fields={fields} />;
}

/** Fields of a record with their values. */
export const Fields = ({
  caption,
  of,
  show = asWritten,
  nameOf = wordsOf,
}: {
  readonly caption: string;
  readonly of: readonly Said[];
  readonly show?: Show;
  /** What a field is called; in words, unless it is said otherwise. */
  readonly nameOf?: (name: string) => string;
}): ReactNode => (
  <FieldTable
    caption={caption}
    columns={[
      { name: 'Field', show: ({ name }) => nameOf(name) },
      { name: 'Value', show: ({ name, value }) => show([name, value]) },
    ]}
    fields={of.map(([name, value]) => ({ name, value }))}
  />
);

/** The fields of a record that did change; a list has many of these, and few are opened. */
export function Changed({ before, after }: { readonly before: State; after: State }): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  const fields = fieldsOf(before, after, membersOf).filter(isChanged);
  return fields.length === 0 ? (
    <None />
  ) : (
    <details className="changed" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{fields.length === 1 ? '1 field' : `${String(fields.length)} fields`}</summary>
      {isOpen ? (
        <DataTable
          caption="What changed"
          columns={beforeAndAfter(asWritten)}
          rows={fields}
          keyOf={({ name }) => name}
        />
      ) : null}
    </details>
  );
}
