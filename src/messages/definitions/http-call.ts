/** Calls of servers elsewhere (docs/decisions/0416): known to what checks definitions, and to what makes the call. */

export const httpMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type HttpMethod = (typeof httpMethods)[number];

/** A call, its expressions evaluated; secrets are still marks. */
export interface HttpCall {
  readonly method: HttpMethod;
  readonly endpoint: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  /** What the task gives: what the answer says, or the answer with its status and headers. */
  readonly output?: 'content' | 'response';
}

/** Bytes of an answer: it becomes part of the state of the execution. */
export const httpAnswerMax = 131_072;
/** Bytes of a request without its body. */
export const httpHeadMax = 16_384;

/** Headers that are the connection's: with them a request says where it ends, or to whom it goes. */
const ofConnection = new Set(
  (
    'accept-encoding connection content-length expect host http2-settings keep-alive ' +
    'proxy-authorization proxy-connection te trailer transfer-encoding upgrade'
  ).split(' '),
);
const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;

/** Why no header may have this name; undefined: one may. */
export function headerNameFault(name: string): string | undefined {
  if (!token.test(name)) return 'is no name of a header';
  return ofConnection.has(name.toLowerCase()) ? 'is set by the connection' : undefined;
}

/** Whether a header may say it: nothing that ends the header. */
export const isHeaderText = (text: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(text);

export const noAddress = 'must be an address: https://...';

/** Why an address cannot be called; undefined: it can. */
export function addressFault(address: unknown): string | undefined {
  const url = typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return noAddress;
  const isSigned = url.username !== '' || url.password !== '';
  return isSigned ? 'has a name or password: send a header authorization' : undefined;
}

/**
 * What stands for a secret in the history of an execution. `mark` is random and of the execution, so that
 * nobody's data can ask for a secret.
 */
const secretMarkOf = (mark: string, name: string): string => `{{${mark}.${name}}}`;

/** Secrets as expressions see them. */
export const markedSecrets = (
  mark: string,
  names: readonly string[],
): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, secretMarkOf(mark, name)]));

const markForm = (mark: string): RegExp =>
  new RegExp(`\\{\\{${mark.replace(/[^0-9A-Za-z-]/g, '')}\\.([A-Za-z0-9_]+)\\}\\}`, 'g');

/** A value with `valueOf` in the place of each mark. */
export function fillSecrets(
  value: unknown,
  mark: string,
  valueOf: (name: string) => string,
): unknown {
  const form = markForm(mark);
  const fill = (one: unknown): unknown => {
    if (typeof one === 'string') {
      return one.replace(form, (_whole, name: string) => valueOf(name));
    }
    if (Array.isArray(one)) return one.map(fill);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([name, each]) => [name, fill(each)]));
  };
  return fill(value);
}
