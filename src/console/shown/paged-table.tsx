import type { ReactNode } from 'react';
import { DataTable, type Column } from './data-table.tsx';
import { Pager } from './pager.tsx';

/** A page of a list, as a table with the way to its other pages. */
export const PagedTable = <Row,>({
  caption,
  name,
  columns,
  rows,
  keyOf,
  page,
  size,
  total,
  onMove,
}: {
  readonly caption: string;
  /** What the rows are, in the plural. */
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly page: number;
  readonly size: number;
  readonly total: string;
  readonly onMove: (page: number) => void;
}): ReactNode => (
  <>
    <DataTable caption={caption} columns={columns} rows={rows} keyOf={keyOf} />
    <Pager
      name={name}
      first={page * size}
      shown={rows.length}
      total={total}
      onMove={(by) => onMove(page + by)}
    />
  </>
);
