/** What is wrong with a part of a body, at its place there. */
interface PlacedFault {
  readonly pointer: string;
  readonly message: string;
}

/** What is wrong with a field. */
interface FieldFault {
  readonly field: string;
  readonly message: string;
}

/** What the API answered instead of what was asked for, in the words that it gave. */
export class ApiProblem extends Error {
  /** 0: nobody answered. */
  readonly status: number;
  readonly requestId: string | null;
  /** All that is wrong with what was sent, where the answer says it. */
  readonly faults: readonly PlacedFault[];
  /** What is wrong with each field, where the answer names them. */
  readonly fields: readonly FieldFault[];
  /** What was sent that is refused, where the answer says it. */
  readonly value: unknown;

  constructor(
    message: string,
    status: number,
    requestId: string | null,
    { faults, fields, value }: Details = { faults: [], fields: [], value: undefined },
  ) {
    super(message);
    this.status = status;
    this.requestId = requestId;
    this.faults = faults;
    this.fields = fields;
    this.value = value;
  }

  /** Whether the same may be answered in a moment. */
  get isPassing(): boolean {
    return this.status === 0 || [502, 503, 504].includes(this.status);
  }
}

type Details = Pick<ApiProblem, 'faults' | 'fields' | 'value'>;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** The message of an error body, of whichever family it is. */
export function messageOf(body: unknown): string {
  const inner = isObject(body) && isObject(body['error']) ? body['error'] : body;
  const message = isObject(inner) ? inner['message'] : undefined;
  return typeof message === 'string' ? message : 'The server gave no reason.';
}

/** What the details of an error body say. */
function detailsOf(body: unknown): Details {
  const inner = isObject(body) && isObject(body['error']) ? body['error'] : {};
  const { faults, errors, value } = isObject(inner['details']) ? inner['details'] : {};
  return {
    faults: Array.isArray(faults) ? (faults as PlacedFault[]) : [],
    fields: Array.isArray(errors) ? (errors as FieldFault[]) : [],
    value,
  };
}

export interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/** The data of an answer; throws `ApiProblem` for any other. */
export async function read<T>(asking: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await asking;
  if (data !== undefined) return data;
  // 204 has no body.
  if (response.status === 204) return undefined as T;
  const requestId = response.headers.get('x-request-id');
  throw new ApiProblem(messageOf(error), response.status, requestId, detailsOf(error));
}
