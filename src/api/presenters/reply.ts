import type { Envelope, OffsetPage, Page, RowPage } from '../../schemas/http/envelope.js';
import type { JsonReply, Listed } from '../../schemas/http/operation.js';
import { sizeFrom } from '../../schemas/http/paging.js';
import type { RowSpec } from '../../schemas/http/row.js';
import { toRow } from './row.js';

/** What a presenter needs to know of the request. */
export interface ReplyContext {
  readonly requestId: string;
  readonly query: Readonly<Record<string, unknown>>;
}

type AnyRecord = Readonly<Record<string, unknown>>;

const envelope = (requestId: string, status: number, data: unknown): Envelope => ({
  requestId,
  success: true,
  status,
  errors: [],
  data,
});

const unsorted = { empty: true, sorted: false, unsorted: true };

function rowPage(content: unknown[], total: number, page: number, size: number): RowPage {
  const totalPages = Math.ceil(total / size);
  return {
    content,
    totalElements: total,
    totalPages,
    size,
    number: page,
    numberOfElements: content.length,
    first: page === 0,
    last: page >= totalPages - 1,
    empty: content.length === 0,
    sort: unsorted,
    pageable: {
      pageNumber: page,
      pageSize: size,
      sort: unsorted,
      offset: page * size,
      paged: true,
      unpaged: false,
    },
  };
}

/**
 * A page with the number and size that hold: one that ended early, since it would have been too large, is
 * a page of a smaller size, by which the next one can be asked for.
 */
function pageThatHolds({ items, isCut = false }: Listed<AnyRecord>, query: ReplyContext['query']) {
  const { page, size } = query as { page: number; size: number };
  if (!isCut) return { items, page, size };
  const offset = page * size;
  const held = sizeFrom(offset, items.length);
  return { items: items.slice(0, held), page: offset / held, size: held };
}

function presentRows(spec: RowSpec, listed: Listed<AnyRecord>, context: ReplyContext) {
  const { items, page, size } = pageThatHolds(listed, context.query);
  const rows = items.map((item) => toRow(spec, item));
  return envelope(context.requestId, 200, rowPage(rows, listed.total, page, size));
}

/** The body of a successful answer, from what the handler returned. */
export function presentReply(reply: JsonReply, result: unknown, context: ReplyContext): unknown {
  switch (reply.kind) {
    case 'empty':
      return undefined;
    case 'dto':
      return reply.row && context.query['view'] === 'row'
        ? envelope(context.requestId, reply.status, toRow(reply.row, result as AnyRecord))
        : result;
    case 'row':
      return envelope(context.requestId, reply.status, toRow(reply.row, result as AnyRecord));
    case 'enveloped':
    case 'envelopedList':
      return envelope(context.requestId, reply.status, result);
    case 'rowPage':
      return presentRows(reply.row, result as Listed<AnyRecord>, context);
    case 'page': {
      const listed = result as Listed<AnyRecord>;
      if (reply.row && context.query['view'] === 'row') {
        return presentRows(reply.row, listed, context);
      }
      const { items, page, size } = pageThatHolds(listed, context.query);
      return {
        content: [...items],
        page,
        size,
        totalElements: listed.total,
        totalPages: Math.ceil(listed.total / size),
      } satisfies Page;
    }
    case 'offsetPage': {
      const { items, total, isCut = false } = result as Listed<AnyRecord>;
      const { limit, offset } = context.query as { limit: number; offset: number };
      const nextOffset = offset + items.length;
      const page = { total, limit, offset, hasMore: nextOffset < total };
      // The limit that held, as where more is asked for than a page may have.
      const cut = { ...page, limit: items.length, nextOffset };
      return { data: [...items], pagination: isCut ? cut : page } satisfies OffsetPage;
    }
  }
}
