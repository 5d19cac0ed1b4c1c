import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { DataTable, type Column } from './data-table.tsx';
import { Empty, Loaded } from './loaded.tsx';
import { Pager } from './pager.tsx';

/** A page of a list as the API answers: of its external family, or of all others. */
type ListAnswer<Row> =
  | {
      readonly content: readonly Row[];
      // Which page it is: envelopes have a number.
      readonly number?: string;
      readonly page?: string;
      readonly size: string;
      readonly totalElements: string;
    }
  | {
      readonly data: readonly Row[];
      // Of JSON as it is, numbers.
      readonly pagination: { readonly offset: string | number; readonly total: string | number };
    };

/** The rows, the place of the first of them, and how many there are. */
function partsOf<Row>(answer: ListAnswer<Row>) {
  if ('content' in answer) {
    const { content, page = '0', number = page, size, totalElements } = answer;
    return { rows: content, from: Number(number) * Number(size), total: totalElements };
  }
  const { offset, total } = answer.pagination;
  return { rows: answer.data, from: Number(offset), total: String(total) };
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
      const { rows, from, total } = partsOf(answer);
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
            from={from}
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
