import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { parseJson } from '../../kernel/text/json.js';
import { issueForCommand } from '../access/named-tenant.js';
import { instanceAddresses, withInstance } from '../start/instance.js';

/** An answer of the API that is no success. */
class ApiFault extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface ErrorBody {
  readonly message?: string;
  readonly error?: { readonly message?: string };
}

/** What an answer says; undefined: it is no JSON, so that something else than the API answers. */
function contentOf(text: string): unknown {
  if (text === '') return null;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** How often a request is sent again that the tenant's plan has no room for; each waits a minute at most. */
const refusalsMax = 10;
const refusalSecondsMax = 60;

/** Asks the API of the running instance as an administrator of a tenant. */
export class ApiClient {
  readonly #url: string;
  readonly token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.token = token;
  }

  static async open(tenant: string, url?: string): Promise<ApiClient> {
    const address = url ?? (await instanceAddresses()).apiUrl;
    const given = { orgId: null, roles: ['ADMIN'], expiresInSeconds: 86_400 };
    const token = await withInstance((access) => issueForCommand(access, tenant, given));
    return new ApiClient(address, token);
  }

  get<T>(path: string): Promise<T> {
    return this.#call<T>('GET', path);
  }

  post<T>(path: string, body: string, idempotencyKey?: string): Promise<T> {
    return this.#call<T>('POST', path, body, idempotencyKey);
  }

  put<T>(path: string, body: string): Promise<T> {
    return this.#call<T>('PUT', path, body);
  }

  /** Sends a request that is a flow until its answer is there, however long the flow takes. */
  async postUntilDone<T>(path: string, body: string): Promise<T> {
    // Under one key it is one flow, whose end the next request waits for.
    const key = randomUUID();
    for (;;) {
      try {
        return await this.post<T>(path, body, key);
      } catch (error) {
        if (!(error instanceof ApiFault && error.status === 504)) throw error;
      }
    }
  }

  /** Makes a record unless there is one of its name. */
  async make(path: string, body: string): Promise<void> {
    try {
      await this.post(path, body);
    } catch (error) {
      if (!(error instanceof ApiFault && error.status === 409)) throw error;
    }
  }

  /** Null: there is none. */
  async find<T>(path: string): Promise<T | null> {
    try {
      return await this.get<T>(path);
    } catch (error) {
      if (error instanceof ApiFault && error.status === 404) return null;
      throw error;
    }
  }

  async #call<T>(method: string, path: string, body?: string, key?: string): Promise<T> {
    let answer = await this.#send(method, path, body, key);
    // What is refused for its number was not begun.
    for (let refused = 0; answer.status === 429 && refused < refusalsMax; refused += 1) {
      const asked = Number(answer.headers.get('retry-after') ?? 1);
      const seconds = Math.min(Math.max(asked, 1), refusalSecondsMax);
      console.error(`More requests than the tenant's plan allows; going on in ${seconds} s.`);
      await wait(seconds * 1_000);
      answer = await this.#send(method, path, body, key);
    }
    const content = contentOf(await answer.text());
    if (answer.ok && content !== undefined) return content as T;
    const { message, error } = (content ?? {}) as ErrorBody;
    throw new ApiFault(
      answer.status,
      `${method} ${path}: ${error?.message ?? message ?? `the API answers ${answer.status}`}`,
    );
  }

  async #send(method: string, path: string, body?: string, key?: string): Promise<Response> {
    return fetch(`${this.#url}${path}`, {
      method,
      ...(body === undefined ? {} : { body }),
      headers: {
        authorization: `Bearer ${this.token}`,
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
    }).catch((error: unknown) => {
      const { cause } = error as Error;
      const why = cause instanceof Error ? cause.message : (error as Error).message;
      throw new Error(`Nothing answers at ${this.#url}: ${why}`);
    });
  }
}
