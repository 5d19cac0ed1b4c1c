import { isObject } from '../../kernel/expression/json-schema-check.js';
import { problem } from '../../kernel/problem.js';
import {
  addressFault,
  headerNameFault,
  httpAnswerMax,
  httpHeadMax,
  httpMethods,
  isHeaderText,
  type HttpCall,
} from '../../messages/definitions/http-call.js';
import { definitionLimits } from '../../messages/definitions/definition.js';
import type { OutgoingRequest } from '../../adapters/outgoing/request-sender.js';

/** No value is in a message: it may be a secret. */
const wrong = (message: string) => problem.validation(message);

const plain = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;

function addressOf({ endpoint, query }: HttpCall): URL {
  const fault = addressFault(endpoint);
  if (fault !== undefined) throw wrong(`'endpoint' ${fault}`);
  const url = new URL(endpoint);
  if (query !== undefined && query !== null && !isObject(query)) {
    throw wrong("'query' must be an object");
  }
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === null || value === undefined) continue;
    for (const one of [value].flat() as unknown[]) {
      const text = plain(one);
      if (text === undefined) throw wrong(`'query.${name}' must be a text, a number or a list`);
      url.searchParams.append(name, text);
    }
  }
  return url;
}

function headersOf({ headers }: HttpCall): Record<string, string> {
  if (headers !== undefined && headers !== null && !isObject(headers)) {
    throw wrong("'headers' must be an object");
  }
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (value === null || value === undefined) continue;
    const fault = headerNameFault(name);
    if (fault !== undefined) throw wrong(`'headers.${name.slice(0, 100)}' ${fault}`);
    const text = plain(value);
    if (text === undefined || !isHeaderText(text)) {
      throw wrong(`'headers.${name}' must be a text without line breaks`);
    }
    given[name.toLowerCase()] = text;
  }
  return given;
}

/** The body with its type, where the headers do not say it. */
function bodyOf({ body, method }: HttpCall, type: string | undefined) {
  if (body === undefined || body === null) return { body: null };
  if (method === 'GET') throw wrong("'body' is not for GET: use query");
  if (typeof body === 'string') return { body, type: type ?? 'text/plain; charset=utf-8' };
  if (type?.startsWith('application/x-www-form-urlencoded') === true && isObject(body)) {
    const fields = Object.entries(body).map(([name, value]) => [name, plain(value) ?? '']);
    return { body: new URLSearchParams(fields).toString(), type };
  }
  return { body: JSON.stringify(body), type: type ?? 'application/json' };
}

/** The request of a call. 400: it is none; `key` is that of the run of the task. */
export function httpRequestOf(call: HttpCall, key: string): OutgoingRequest {
  const { method } = call;
  if (!httpMethods.includes(method)) {
    throw wrong(`'method' must be one of: ${httpMethods.join(', ')}`);
  }
  const url = addressOf(call).href;
  const given = headersOf(call);
  const { body, type } = bodyOf(call, given['content-type']);
  const headers = {
    'user-agent': 'Durabill-Workflows/1',
    accept: 'application/json, text/*;q=0.9, */*;q=0.8',
    'idempotency-key': key,
    ...given,
    ...(type === undefined ? {} : { 'content-type': type }),
  };
  if (url.length + JSON.stringify(headers).length > httpHeadMax) {
    throw wrong(`Address and headers have more than ${httpHeadMax} characters.`);
  }
  if (Buffer.byteLength(body ?? '') > definitionLimits.stateBytes) {
    throw wrong(`'body' has more than ${definitionLimits.stateBytes} bytes.`);
  }
  return { url, method, headers, body, wholeMax: httpAnswerMax };
}
