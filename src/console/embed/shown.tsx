import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, useRef, type ReactNode } from 'react';
import { ApiProblem } from '../api/problem.ts';
import { useFile } from '../api/use-file.ts';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { Press } from '../shown/press.tsx';
import { titleOf } from '../shown/values.tsx';
import { fetchEmbedded } from './access.ts';
import { pageSize } from './queries.ts';
import { useSpoken } from './language.tsx';
import { fill, type Texts } from './texts.ts';

/** Whether a view was shown before: the first keeps the focus where the browser put it. */
let isAfterAnother = false;

/** A view: its title gets the focus when somebody comes from another one. */
export function Titled({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ReactNode;
}): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    if (isAfterAnother) heading.current?.focus();
    isAfterAnother = true;
  }, []);
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {titleOf(title)}
      </h1>
      {children}
    </>
  );
}

const faults: Readonly<Record<number, keyof Texts>> = {
  401: 'ended',
  403: 'refused',
  404: 'missing',
};

/** What went wrong, in the language of the page: the API's own words are English. */
function Fault({
  error,
  onAgain,
}: {
  readonly error: unknown;
  readonly onAgain?: () => void;
}): ReactNode {
  const { texts } = useSpoken();
  const status = error instanceof ApiProblem ? error.status : 500;
  return (
    <div role="alert" className="fault">
      <p>{texts[faults[status] ?? 'failed']}</p>
      {onAgain === undefined || status === 401 ? null : (
        <button type="button" onClick={onAgain}>
          {texts.tryAgain}
        </button>
      )}
    </div>
  );
}

/** What was asked for, once it is there; until then and otherwise, how it stands. */
export function Loaded<T>({
  query,
  children,
}: {
  readonly query: UseQueryResult<T>;
  readonly children: (data: T) => ReactNode;
}): ReactNode {
  const { texts } = useSpoken();
  const { data, error, failureReason, refetch } = query;
  if (data !== undefined) return children(data);
  if (error) return <Fault error={error} onAgain={() => void refetch()} />;
  return <p role="status">{failureReason === null ? texts.loading : texts.away}</p>;
}

/** A page of a list as a table, with the way to its other pages. */
export function Listed<Row>({
  query,
  caption,
  columns,
  keyOf,
  page,
  empty,
  onMove,
}: {
  readonly query: UseQueryResult<{ readonly rows: readonly Row[]; readonly total: string }>;
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row, index: number) => string;
  readonly page: number;
  readonly empty: string;
  readonly onMove: (page: number) => void;
}): ReactNode {
  const { texts, formats } = useSpoken();
  return (
    <Loaded query={query}>
      {({ rows, total }) => {
        if (rows.length === 0) return <p className="empty">{empty}</p>;
        const last = page * pageSize + rows.length;
        const shown = fill(texts.shown, {
          first: formats.quantity(String(page * pageSize + 1)),
          last: formats.quantity(String(last)),
          total: formats.quantity(total),
        });
        return (
          <>
            <DataTable caption={caption} columns={columns} rows={rows} keyOf={keyOf} />
            <nav className="pager" aria-label={fill(texts.pagesOf, { name: caption })}>
              <p role="status">{shown}</p>
              {BigInt(total) > BigInt(rows.length) ? (
                <>
                  <Press isHeld={page === 0} onPress={() => onMove(page - 1)}>
                    {texts.previous}
                  </Press>
                  <Press isHeld={BigInt(last) >= BigInt(total)} onPress={() => onMove(page + 1)}>
                    {texts.next}
                  </Press>
                </>
              ) : null}
            </nav>
          </>
        );
      }}
    </Loaded>
  );
}

/** A button that keeps a file of the API. */
export function Download({
  path,
  name,
  children,
}: {
  readonly path: string;
  readonly name: string;
  readonly children: ReactNode;
}): ReactNode {
  const { texts } = useSpoken();
  const { state, error, start } = useFile(fetchEmbedded, path, name);
  const told = { idle: '', busy: texts.loading, done: fill(texts.isThere, { name }) }[state];
  return (
    <>
      <p className="again">
        <Press isHeld={state === 'busy'} onPress={start}>
          {children}
        </Press>{' '}
        <span role="status">{told}</span>
      </p>
      {error === undefined ? null : <Fault error={error} />}
    </>
  );
}
