import { Type, type Static, type TSchema } from 'typebox';

/* What is around the data of an answer: the presenters make it, the OpenAPI document shows it. */

const Whole = (description: string) => Type.Integer({ description });
const Is = (description: string) => Type.Boolean({ description });

/** The envelope (spec/resources.md R4). */
export const envelopeOf = <S extends TSchema>(data: S) =>
  Type.Object(
    {
      requestId: Type.String({ description: 'Id of the request.' }),
      success: Type.Literal(true, { description: 'Always true here.' }),
      status: Whole('The HTTP status.'),
      errors: Type.Array(Type.Unknown({ description: 'An error; there is none.' }), {
        maxItems: 0,
        description: 'Always empty here.',
      }),
      data,
    },
    { description: 'The envelope around the data.' },
  );
export type Envelope = Static<ReturnType<typeof envelopeOf>>;

export const PageSort = Type.Object(
  {
    empty: Is('Whether the caller gave no order.'),
    sorted: Is('Whether the caller gave an order.'),
    unsorted: Is('The opposite of sorted.'),
  },
  { description: 'The order of a page.' },
);

export const Pageable = Type.Object(
  {
    pageNumber: Whole('Page, counted from 0.'),
    pageSize: Whole('Rows a page.'),
    sort: PageSort,
    offset: Whole('Rows before this page.'),
    paged: Is('Always true.'),
    unpaged: Is('Always false.'),
  },
  { description: 'Where a page lies.' },
);

/** The page inside an envelope (spec/resources.md R4). */
export const rowPageOf = <S extends TSchema>(row: S) =>
  Type.Object(
    {
      content: Type.Array(row, { description: 'The rows.' }),
      totalElements: Whole('Rows in all.'),
      totalPages: Whole('Pages in all.'),
      size: Whole('Rows a page.'),
      number: Whole('Page, counted from 0.'),
      numberOfElements: Whole('Rows of this page.'),
      first: Is('Whether this is the first page.'),
      last: Is('Whether this is the last page.'),
      empty: Is('Whether the page has no rows.'),
      sort: PageSort,
      pageable: Pageable,
    },
    { description: 'A page of rows.' },
  );
export type RowPage = Static<ReturnType<typeof rowPageOf>>;

/** A page without an envelope. */
export const pageOf = <S extends TSchema>(item: S) =>
  Type.Object(
    {
      content: Type.Array(item, { description: 'The items.' }),
      page: Whole('Page, counted from 0.'),
      size: Whole(
        'Items a page; fewer than were asked for where the page would be larger than 8 MiB: then ' +
          'page is counted in pages of this size.',
      ),
      totalElements: Whole('Items in all.'),
      totalPages: Whole('Pages in all.'),
    },
    { description: 'A page of items.' },
  );
export type Page = Static<ReturnType<typeof pageOf>>;

export const Pagination = Type.Object(
  {
    total: Whole('Items in all.'),
    limit: Whole('Items a page.'),
    offset: Whole('Items before this page.'),
    hasMore: Is('Whether items follow.'),
    nextOffset: Type.Optional(
      Whole(
        'Where to go on; only of a page that ended before the limit that was asked for, because ' +
          'it would have been larger than 8 MiB. Then limit says how many items it has.',
      ),
    ),
  },
  { description: 'Where a page lies.' },
);

/** A page by limit and offset (spec/platform.md R16). */
export const offsetPageOf = <S extends TSchema>(item: S) =>
  Type.Object(
    { data: Type.Array(item, { description: 'The items.' }), pagination: Pagination },
    { description: 'A page of items.' },
  );
export type OffsetPage = Static<ReturnType<typeof offsetPageOf>>;

export const LookupName = Type.Object(
  { Name: Type.String({ description: 'The display name.' }) },
  { description: 'What a lookup field points to.' },
);
