import type { Static, TObject, TSchema } from 'typebox';
import type { RowSpec } from './row.js';

/** Which error body an operation answers with; see `problem.ts`. */
export type ErrorFamily = 'billing' | 'flows' | 'records' | 'ingestion' | 'gateway';

/**
 * Who may call it: callers with one of the roles of `rolesOf`, with any valid token, or everybody
 * (docs/decisions/0195).
 */
export type Access = 'reader' | 'operator' | 'admin' | 'token' | 'public';

export type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 413 | 429 | 431 | 502 | 503 | 504;

/** A camelCase object without envelope; with `row`, `?view=row` answers with the envelope row. */
interface DtoReply<S extends TSchema = TSchema> {
  readonly kind: 'dto';
  readonly status: 200 | 201 | 503;
  readonly schema: S;
  readonly row: RowSpec | null;
}
/** The envelope around one PascalCase row. */
interface RowReply<S extends TSchema = TSchema> {
  readonly kind: 'row';
  readonly status: 200;
  readonly schema: S;
  readonly row: RowSpec;
}
/** The envelope around a page of PascalCase rows. */
interface RowPageReply<S extends TSchema = TSchema> {
  readonly kind: 'rowPage';
  readonly status: 200;
  readonly schema: S;
  readonly row: RowSpec;
}
/** A `PageResponse` without envelope; with `row`, `?view=row` answers with envelope rows. */
interface PageReply<S extends TSchema = TSchema> {
  readonly kind: 'page';
  readonly status: 200;
  readonly schema: S;
  readonly row: RowSpec | null;
}
/** `{data, pagination}` (spec/platform.md R16). */
interface OffsetPageReply<S extends TSchema = TSchema> {
  readonly kind: 'offsetPage';
  readonly status: 200;
  readonly schema: S;
}
/** The envelope around a camelCase object (spec/platform.md R1). */
interface EnvelopedReply<S extends TSchema = TSchema> {
  readonly kind: 'enveloped';
  readonly status: 200 | 201;
  readonly schema: S;
}
/** The envelope around all objects of a list. */
interface EnvelopedListReply<S extends TSchema = TSchema> {
  readonly kind: 'envelopedList';
  readonly status: 200;
  readonly schema: S;
}
/** A file to download: its bytes as they are stored. */
interface FileReply {
  readonly kind: 'file';
  readonly status: 200;
  readonly contentType: string;
}
/** A stream of unknown length; the request chooses one of its media types. */
interface StreamReply {
  readonly kind: 'stream';
  readonly status: 200;
  readonly types: Readonly<Record<string, StreamedLines | null>>;
}
/** Each line is JSON of one of these; null of a media type: it is no JSON. */
interface StreamedLines {
  readonly lines: readonly TSchema[];
  readonly example: string;
}
/** Events as they happen, as `text/event-stream`: the data of each is JSON of this. */
interface EventsReply<S extends TSchema = TSchema> {
  readonly kind: 'events';
  readonly status: 200;
  readonly schema: S;
  /** Such data. */
  readonly example: object;
}
/** Leads a browser elsewhere, perhaps with cookies. */
interface RedirectReply {
  readonly kind: 'redirect';
  readonly status: 302;
}
interface EmptyReply {
  readonly kind: 'empty';
  readonly status: 204;
}

export type Reply =
  | DtoReply
  | RowReply
  | RowPageReply
  | PageReply
  | OffsetPageReply
  | EnvelopedReply
  | EnvelopedListReply
  | FileReply
  | StreamReply
  | EventsReply
  | RedirectReply
  | EmptyReply;

/** A reply with a body that is JSON, or with none. */
export type JsonReply = Exclude<Reply, FileReply | StreamReply | EventsReply | RedirectReply>;

/** The shapes of answers (spec/resources.md R4 to R9). */
export const reply = {
  dto: <S extends TSchema>(schema: S, row: RowSpec | null = null): DtoReply<S> => ({
    kind: 'dto',
    status: 200,
    schema,
    row,
  }),
  created: <S extends TSchema>(schema: S): DtoReply<S> => ({
    kind: 'dto',
    status: 201,
    schema,
    row: null,
  }),
  row: <S extends TObject>(row: RowSpec<S>): RowReply<S> => ({
    kind: 'row',
    status: 200,
    schema: row.source,
    row,
  }),
  rowPage: <S extends TObject>(row: RowSpec<S>): RowPageReply<S> => ({
    kind: 'rowPage',
    status: 200,
    schema: row.source,
    row,
  }),
  page: <S extends TSchema>(schema: S, row: RowSpec | null = null): PageReply<S> => ({
    kind: 'page',
    status: 200,
    schema,
    row,
  }),
  offsetPage: <S extends TSchema>(schema: S): OffsetPageReply<S> => ({
    kind: 'offsetPage',
    status: 200,
    schema,
  }),
  enveloped: <S extends TSchema>(schema: S, status: 200 | 201 = 200): EnvelopedReply<S> => ({
    kind: 'enveloped',
    status,
    schema,
  }),
  envelopedList: <S extends TSchema>(schema: S): EnvelopedListReply<S> => ({
    kind: 'envelopedList',
    status: 200,
    schema,
  }),
  /** Sent as an attachment under the file's own name. */
  file: (contentType: string): FileReply => ({ kind: 'file', status: 200, contentType }),
  stream: (types: StreamReply['types']): StreamReply => ({ kind: 'stream', status: 200, types }),
  events: <S extends TSchema>(schema: S, example: Static<S> & object): EventsReply<S> => ({
    kind: 'events',
    status: 200,
    schema,
    example,
  }),
  redirect: (): RedirectReply => ({ kind: 'redirect', status: 302 }),
  empty: (): EmptyReply => ({ kind: 'empty', status: 204 }),
};

/** A record that an embed's token may read where it is of its account. */
export type EmbeddedRecord = 'invoice' | 'payment' | 'ratedTransaction' | 'usageEvent';

/**
 * How an operation is limited to the account of an embed's token (docs/decisions/0384): by a filter, or
 * by whose record it reads.
 */
export type EmbedLimit =
  | { readonly filter: 'account' | 'accountId' }
  | { readonly record: EmbeddedRecord; readonly param: string };

/** One HTTP operation: validation, types, routes, OpenAPI and tests derive from it. */
export interface Operation {
  /** OpenAPI operationId, unique. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The whole path, parameters in braces. */
  readonly path: string;
  /** Set for an operation besides those of the specification (test/meta/operation-list.test.ts). */
  readonly isAddition?: boolean;
  /** Heading in the documentation. */
  readonly tag: string;
  readonly summary: string;
  /** The description for all callers: in the documentation and in the description of a tool. */
  readonly description?: string;
  /** Further details, in the documentation only, since each word of a tool costs a model tokens. */
  readonly details?: string;
  readonly family?: ErrorFamily;
  /** Default: `reader` for read-only operations, else `admin`. */
  readonly access?: Access;
  /** Set for what the token of an embed may read; it may nothing else. */
  readonly embed?: EmbedLimit;
  /** Of a body: properties that only ADMIN may give, with dots into objects and lists. */
  readonly adminFields?: readonly string[];
  /** Path parameters ending in Id that are no UUIDs: keys of the caller. */
  readonly textParams?: readonly string[];
  /** Path parameters that have one of these values; 400 names them. */
  readonly pathValues?: Readonly<Record<string, readonly string[]>>;
  readonly query?: TObject;
  readonly body?: TSchema;
  /** Most bytes of the body, where it is not the usual 1 MiB. */
  readonly bodyMax?: number;
  /** The body may be left out: then it is an empty object. */
  readonly isBodyOptional?: boolean;
  /** The part of the body that people write ('': all of it): a member that is there twice is 400, at its place. */
  readonly writtenPart?: string;
  /** The body reaches the handler as the text that was sent, once it has been checked. */
  readonly keepsBodyText?: boolean;
  /** A request body that is valid, for the documentation and for tests over all operations. */
  readonly example?: object;
  readonly success: Reply;
  /** Whether it is read-only, if its method does not imply that. */
  readonly isReadOnly?: boolean;
  /**
   * Which limit of the tenant it counts for: `requests` is that of its plan (spec/platform.md R43),
   * `events` that of ingestion, if the instance has one.
   */
  readonly rateLimit?: 'requests' | 'events';
  /** Set for operations with much time or memory: few run concurrently (docs/decisions/0171). */
  readonly weight?: 'heavy';
  /**
   * How an `Idempotency-Key` is handled, if `idempotencyOf` cannot derive it: `flow`, a workflow
   * stores the answer; `none`, no key is accepted, since a repetition is harmless or the answer
   * must not be stored.
   */
  readonly idempotency?: 'flow' | 'none';
  /** Set where the answer shows a secret, this once: it is kept nowhere, and so workflows do not call it. */
  readonly showsSecret?: true;
  /** Errors besides 401 and 403, which every protected operation has. */
  readonly errors: readonly ErrorStatus[];
}

/** Whether an operation is read-only, so that it needs no right to write. */
export const isReadOnly = ({ method, isReadOnly: declared }: Operation): boolean =>
  method === 'GET' || declared === true;

export function operation<const O extends Operation>(declaration: O): O {
  return declaration;
}

/** The prefix of the resource API. */
export const external = <const P extends string>(path: P): `/api/v1/external${P}` =>
  `/api/v1/external${path}`;

/** The names in braces of a path, as an object type of strings. */
export type PathParams<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Record<Name, string> & PathParams<Rest>
  : unknown;

/** A list as queries return it: one page of items, and how many there are in all. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly total: number;
  /** Whether the page ended before its limit, because of the maximum bytes of an answer. */
  readonly isCut?: boolean;
}

/** A file as queries return it. */
export interface StoredFile {
  readonly fileName: string;
  readonly bytes: Buffer;
}

/** A streamed answer; each part is made when the previous one has been sent. */
export interface StreamedAnswer {
  readonly contentType: string;
  readonly fileName: string;
  readonly parts: AsyncGenerator<string | Uint8Array, void>;
  /** The last part of a stream that fails; null: the format has no place for it. */
  readonly breakOff: (fault: { readonly code: string; readonly message: string }) => string | null;
}

/** Events to send as they happen. */
export interface StreamedEvents<E = unknown> {
  /** For how long. */
  readonly seconds: number;
  /** Calls back with each event until the returned function is called. */
  readonly hear: (send: (event: E) => void) => Promise<() => void>;
}

/** The target of a redirect, with cookies. */
export interface Redirect {
  readonly location: string;
  readonly cookies: readonly {
    readonly name: string;
    readonly value: string;
    readonly maxAgeSeconds: number;
  }[];
}

type QueryOf<O extends Operation> = O extends { readonly query: infer Q extends TObject }
  ? Static<Q>
  : Record<string, never>;
type BodyOf<O extends Operation> = O extends { readonly body: infer B extends TSchema }
  ? Static<B>
  : undefined;

export interface OperationInput<O extends Operation> {
  readonly params: PathParams<O['path']>;
  readonly query: QueryOf<O>;
  readonly body: BodyOf<O>;
  /** Given by the caller where the operation is idempotent. */
  readonly idempotencyKey: string | null;
}

type ResultWithBody<R extends Reply> = R extends
  RowPageReply<infer S> | PageReply<infer S> | OffsetPageReply<infer S>
  ? Listed<Static<S>>
  : R extends EnvelopedListReply<infer S>
    ? readonly Static<S>[]
    : R extends DtoReply<infer S> | RowReply<infer S> | EnvelopedReply<infer S>
      ? Static<S>
      : never;

export type OperationResult<O extends Operation> = O['success'] extends EmptyReply
  ? void
  : O['success'] extends FileReply
    ? StoredFile
    : O['success'] extends StreamReply
      ? StreamedAnswer
      : O['success'] extends EventsReply<infer S>
        ? StreamedEvents<Static<S>>
        : O['success'] extends RedirectReply
          ? Redirect
          : ResultWithBody<O['success']>;
