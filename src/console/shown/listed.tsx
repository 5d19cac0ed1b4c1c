import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { DataTable, type Column } from './data-table.tsx';
import { Empty, Loaded } from './loaded.tsx';
import { Pager } from './pager.tsx';

/** A page of a list as the API answers: of its external family, or of all others. */
type ListAnswer<Row> =
  | { readonly content: readonly Row[]; readonly totalElements: string }
  // Of JSON as it is, a number.
  | { readonly data: readonly Row[]; readonly pagination: { readonly total: string | number } };

function partsOf<Row>(answer: ListAnswer<Row>): { rows: readonly Row[]; total: string } {
  return 'content' in answer
    ? { rows: answer.content, total: answer.totalElements }
    : { rows: answer.data, total: String(answer.pagination.total) };
}

/** A page of a list once it is there, as a table with the way to its other pages. */
export const Listed = <Row,>({
  query,
  caption,
  name,
  columns,
  keyOf,
  page,
  size,
  empty,
  isOfMany = false,
  onMove,
  onAhead,
}: {
  readonly query: UseQueryResult<ListAnswer<Row>>;
  readonly caption: string;
  /** What the rows are, in the plural. */
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly page: number;
  readonly size: number;
  /** What is said where there are no rows: what makes some; null: nothing is shown then. */
  readonly empty: ReactNode;
  /** Of several lists on a page; see `Pager`. */
  readonly isOfMany?: boolean;
  readonly onMove: (page: number) => void;
  /** Reads a page that is probably asked for next; see `Pager`. */
  readonly onAhead: (page: number) => void;
}): ReactNode => (
  <Loaded query={query}>
    {(answer) => {
      const { rows, total } = partsOf(answer);
      if (rows.length === 0) return empty === null ? null : <Empty>{empty}</Empty>;
      return (
        <>
          <DataTable
            caption={caption}
            // The heading says the same already.
            isCaptionHeard={caption.toLowerCase() === name}
            columns={columns}
            rows={rows}
            keyOf={keyOf}
          />
          <Pager
            name={name}
            first={page * size}
            shown={rows.length}
            total={total}
            isOfMany={isOfMany}
            onMove={(by) => onMove(page + by)}
            onAhead={(by) => onAhead(page + by)}
          />
        </>
      );
    }}
  </Loaded>
);
