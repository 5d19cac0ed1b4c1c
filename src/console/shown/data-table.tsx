import type { ReactNode } from 'react';

export interface Column<Row> {
  readonly name: string;
  readonly show: (row: Row) => ReactNode;
  /** Numbers stand right, digit below digit. */
  readonly isNumber?: boolean;
}

/**
 * A table; its first column names the row. On narrow screens each row is a card: the roles are
 * written, since browsers take them from tables that are laid out otherwise.
 */
export function DataTable<Row>({
  caption,
  isCaptionHeard = false,
  columns,
  rows,
  keyOf,
}: {
  readonly caption: string;
  /** Said to those who hear the page alone: a heading above says it. */
  readonly isCaptionHeard?: boolean;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row, index: number) => string;
}): ReactNode {
  return (
    <table role="table" className="data">
      <caption>{isCaptionHeard ? <span className="heard">{caption}</span> : caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ name, isNumber }) => (
            <th key={name} role="columnheader" scope="col" className={isNumber ? 'number' : ''}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row, index) => (
          <tr key={keyOf(row, index)} role="row">
            {columns.map(({ name, show, isNumber }, at) =>
              at === 0 ? (
                <th key={name} role="rowheader" scope="row">
                  {show(row)}
                </th>
              ) : (
                <td key={name} role="cell" data-name={name} className={isNumber ? 'number' : ''}>
                  <span>{show(row)}</span>
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
