import { inPortions, mapInPortions } from '../../kernel/portions.js';
import { estimateTokens } from '../../kernel/text/token-estimate.js';
import type { JsonReply, Listed } from '../../schemas/http/operation.js';
import { sizeFrom } from '../../schemas/http/paging.js';
import { JsonText, stringifyJson, stringifyJsonInPortions } from '../server/unstorable-text.js';

type Query = Readonly<Record<string, unknown>>;

/** A page as a model reads it: what is in it, how many there are, and how to ask for the next. */
interface Page {
  readonly items: readonly unknown[];
  readonly total: number;
  readonly next?: Query;
  readonly note?: string;
}

/** Where a page begins, in whichever of the two ways its list counts. */
const startOf = ({ page, size, offset }: Query): number =>
  typeof page === 'number' ? page * Number(size) : Number(offset ?? 0);

/** The arguments that bring what follows these items; the size too, where the pages became smaller. */
function nextOf(query: Query, shown: number): Query {
  if (typeof query['page'] !== 'number') return { offset: startOf(query) + shown };
  return { page: startOf(query) / shown + 1, size: shown };
}

/** The largest number of items up to this one with which pages can be counted on from here. */
function pageSize(query: Query, shown: number): number {
  return typeof query['page'] === 'number' ? sizeFrom(startOf(query), shown) : shown;
}

/** Replies that are read page by page. */
const pagedKinds: readonly string[] = ['rowPage', 'page', 'offsetPage'];

/** Hardly an item of a list is written with fewer tokens. */
const itemTokensMin = 20;

/** The query for no more items than an answer of so many tokens may hold: others would be read for nothing. */
export function fittingQuery({ kind }: JsonReply, query: Query, tokensMax: number): Query {
  const most = Math.max(1, Math.floor(tokensMax / itemTokensMin));
  if (!pagedKinds.includes(kind) || asksFor(query) <= most) return query;
  if (typeof query['page'] !== 'number') return { ...query, limit: most };
  const size = pageSize(query, most);
  return { ...query, page: startOf(query) / size, size };
}

/** How many items a query of a list asks for; 0 where it is of none. */
const asksFor = ({ page, size, limit }: Query): number =>
  Number((typeof page === 'number' ? size : limit) ?? 0);

function pageOf({ items: found, total, isCut = false }: Listed<unknown>, query: Query): Page {
  const items = isCut ? found.slice(0, pageSize(query, found.length)) : found;
  const hasMore = items.length > 0 && startOf(query) + items.length < total;
  return { items, total, ...(hasMore ? { next: nextOf(query, items.length) } : {}) };
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.getPrototypeOf(value) === Object.prototype;

/** The value without fields that have none: what is left out is null (see the instructions). */
function* compacted(value: unknown): Generator<undefined, unknown, undefined> {
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) items.push(yield* compacted(item));
    return items;
  }
  if (!isPlain(value)) return value;
  yield;
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member !== null && member !== undefined) members.push([name, yield* compacted(member)]);
  }
  return Object.fromEntries(members);
}

/** What a handler returned as a tool answers it: records themselves, without envelopes and rows. */
export async function presentToolAnswer(
  reply: JsonReply,
  result: unknown,
  query: Query,
): Promise<unknown> {
  switch (reply.kind) {
    case 'rowPage':
    case 'page':
    case 'offsetPage': {
      const { items, ...listed } = result as Listed<unknown>;
      return pageOf({ ...listed, items: await compact(items) }, query);
    }
    case 'envelopedList': {
      const items = await compact(result as readonly unknown[]);
      return pageOf({ items, total: items.length }, {});
    }
    default:
      return compact(result ?? null);
  }
}

const compact = <T>(value: T): Promise<T> => inPortions(compacted(value)) as Promise<T>;

/** How many items each list of an answer keeps, from one try to the next. */
const keptItems = [100, 50, 20, 10, 5, 3, 2, 1] as const;
const textLengthMax = 500;

/** What was cut off lists by the names that lead to them, and how many texts were. */
type LeftOut = Record<string, number>;

/** The value with at most so many items of each list, and texts of a bounded length. */
function* shorten(
  value: unknown,
  kept: number,
  at: string,
  leftOut: LeftOut,
): Generator<undefined, unknown, undefined> {
  if (typeof value === 'string' && value.length > textLengthMax) {
    leftOut[`${at} (characters)`] = value.length - textLengthMax;
    return value.slice(0, textLengthMax);
  }
  if (Array.isArray(value)) {
    if (value.length > kept) leftOut[at] = (leftOut[at] ?? 0) + value.length - kept;
    const items: unknown[] = [];
    for (const one of value.slice(0, kept)) {
      items.push(yield* shorten(one, kept, `${at}[]`, leftOut));
    }
    return items;
  }
  if (!isPlain(value)) return value;
  yield;
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const place = at === '' ? name : `${at}.${name}`;
    members.push([name, yield* shorten(member, kept, place, leftOut)]);
  }
  return Object.fromEntries(members);
}

const askForMore = (tokens: number): string =>
  `The whole has about ${tokens} tokens: call with maxTokens, or ask for less of it.`;

/** What is kept for the words about what was left out. */
const noteTokens = 150;

async function fitRecord(value: unknown, tokens: number, tokensMax: number): Promise<string> {
  const note = askForMore(tokens);
  for (const kept of keptItems) {
    const leftOut: LeftOut = {};
    const cut = await inPortions(shorten(value, kept, '', leftOut));
    const noted = isPlain(cut) ? { ...cut, leftOut, note } : { items: cut, leftOut, note };
    const text = await stringifyJsonInPortions(noted, { isUneven: true });
    if ((await estimateInPortions(text)) <= tokensMax) return text;
  }
  return stringifyJson({ note });
}

/** An item as it is written, and about how many tokens that is. */
interface WrittenItem {
  readonly text: string;
  readonly tokens: number;
}

function writeItem(item: unknown): WrittenItem {
  const text = stringifyJson(item);
  return { text, tokens: estimateTokens(text) + 1 };
}

/** These items in an answer: each was written before, and is not written again. */
const listOf = (items: readonly WrittenItem[]): JsonText =>
  new JsonText(`[${items.map(({ text }) => text).join(',')}]`);

/** What was asked for, and what of it was read: see `fittingQuery`. */
export interface ListQueries {
  readonly asked: Query;
  readonly read: Query;
}

/** As many of the items as there is room for; at least one, cut where it has to be. Null: a list without pages. */
async function writePage(
  page: Page,
  queries: ListQueries | null,
  tokensMax: number,
): Promise<string> {
  const items = await mapInPortions(page.items, writeItem);
  const rest = { ...page, items: [] };
  const written = items.reduce((sum, item) => sum + item.tokens, writeItem(rest).tokens);
  if (written <= tokensMax) return stringifyJson({ ...page, items: listOf(items) });
  const query = queries?.read ?? null;
  const whole = Math.max(
    items.length,
    queries ? Math.min(asksFor(queries.asked), page.total - startOf(queries.asked)) : 0,
  );
  const tokens = Math.round((written * whole) / items.length);
  let room = tokensMax - noteTokens;
  let shown = 0;
  for (const item of items) {
    room -= item.tokens;
    if (room < 0) break;
    shown += 1;
  }
  if (shown === 0) return fitRecord(page.items[0], tokens, tokensMax);
  const size = query === null ? shown : pageSize(query, shown);
  return stringifyJson({
    items: listOf(items.slice(0, size)),
    total: page.total,
    ...(query === null ? {} : { next: nextOf(query, size) }),
    note: `Only the first ${size} of ${whole}. ${askForMore(tokens)}`,
  });
}

/** So much of a text is estimated at once. */
const pieceLength = 64 * 1024;

async function estimateInPortions(text: string): Promise<number> {
  const pieces = Array.from({ length: Math.ceil(text.length / pieceLength) }, (_each, index) =>
    text.slice(index * pieceLength, (index + 1) * pieceLength),
  );
  const counts = await mapInPortions(pieces, estimateTokens);
  return counts.reduce((sum, count) => sum + count, 0);
}

const isPage = (value: unknown, reply: JsonReply): value is Page =>
  [...pagedKinds, 'envelopedList'].includes(reply.kind) && isPlain(value);

/** An answer as text of about so many tokens at most, which says what it left out. */
export async function writeToolAnswer(
  reply: JsonReply,
  result: unknown,
  queries: ListQueries,
  tokensMax: number,
): Promise<string> {
  const value = await presentToolAnswer(reply, result, queries.read);
  if (isPage(value, reply)) {
    return writePage(value, reply.kind === 'envelopedList' ? null : queries, tokensMax);
  }
  const text = await stringifyJsonInPortions(value, { isUneven: true });
  const tokens = await estimateInPortions(text);
  return tokens <= tokensMax ? text : fitRecord(value, tokens, tokensMax);
}
