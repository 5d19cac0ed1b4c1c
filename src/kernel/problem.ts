/** What went wrong, independent of the API family that renders it. */
export type ProblemKind =
  | 'validation'
  | 'unauthorized'
  | 'forbidden'
  | 'notFound'
  | 'methodNotAllowed'
  | 'conflict'
  | 'limitReached'
  | 'tooLarge'
  | 'rateLimited'
  | 'headersTooLarge'
  | 'requestTimeout'
  | 'internal'
  | 'badGateway'
  | 'unavailable'
  | 'overloaded'
  | 'timeout';

/** HTTP status of each kind; the same in every API family. */
export const statusOfKind: Readonly<Record<ProblemKind, number>> = {
  validation: 400,
  unauthorized: 401,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  conflict: 409,
  limitReached: 409,
  tooLarge: 413,
  rateLimited: 429,
  headersTooLarge: 431,
  requestTimeout: 408,
  internal: 500,
  badGateway: 502,
  unavailable: 503,
  overloaded: 503,
  timeout: 504,
};

/**
 * The message of a problem: a text, or a function that is called with the caller's names of fields
 * (commands name fields differently from start nodes).
 */
export type Sentence = string | ((nameOf: NameOf) => string);

type NameOf = (field: string) => string;

const ownName: NameOf = (field) => field;

/**
 * A failure that the caller is meant to see: thrown anywhere, rendered once, by family
 * (spec/resources.md R11, spec/platform.md R14, spec/gateway.md R5, R16).
 * `details` names the field and value at fault where there is one.
 */
export class Problem extends Error {
  readonly kind: ProblemKind;
  readonly details: Readonly<Record<string, unknown>>;
  readonly #sentence: Sentence;

  constructor(
    kind: ProblemKind,
    sentence: Sentence,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(typeof sentence === 'string' ? sentence : sentence(ownName));
    this.#sentence = sentence;
    this.name = 'Problem';
    this.kind = kind;
    this.details = details;
  }

  get status(): number {
    return statusOfKind[this.kind];
  }

  /** The same problem with the caller's names of fields. */
  inNames(nameOf: NameOf): Problem {
    const { field } = this.details;
    const details =
      typeof field === 'string' ? { ...this.details, field: nameOf(field) } : this.details;
    const sentence = this.#sentence;
    return new Problem(
      this.kind,
      typeof sentence === 'string' ? sentence : sentence(nameOf),
      details,
    );
  }
}

type Make = (sentence: Sentence, details?: Readonly<Record<string, unknown>>) => Problem;

const make =
  (kind: ProblemKind): Make =>
  (sentence, details) =>
    new Problem(kind, sentence, details);

/** Of what is refused by the thousand nobody reads where it was thrown, which takes longer to find than all else. */
const makeBare =
  (kind: ProblemKind): Make =>
  (sentence, details) => {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    const bare = new Problem(kind, sentence, details);
    Error.stackTraceLimit = stackTraceLimit;
    return bare;
  };

/** `throw problem.conflict('…')`. */
export const problem = {
  validation: make('validation'),
  unauthorized: make('unauthorized'),
  forbidden: make('forbidden'),
  notFound: make('notFound'),
  methodNotAllowed: make('methodNotAllowed'),
  conflict: make('conflict'),
  tooLarge: make('tooLarge'),
  rateLimited: makeBare('rateLimited'),
  headersTooLarge: make('headersTooLarge'),
  requestTimeout: make('requestTimeout'),
  badGateway: make('badGateway'),
  unavailable: make('unavailable'),
  overloaded: makeBare('overloaded'),
  timeout: make('timeout'),
};
