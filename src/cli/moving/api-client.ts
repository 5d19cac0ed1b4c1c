import { randomUUID } from 'node:crypto';
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

/** Asks the API of the running instance as an administrator of a tenant. */
export class ApiClient {
  readonly #url: string;
  readonly token: string;

  private constructor(url: string, token: string) {
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
    const answer = await fetch(`${this.#url}${path}`, {
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
    const content = contentOf(await answer.text());
    if (answer.ok && content !== undefined) return content as T;
    const { message, error } = (content ?? {}) as ErrorBody;
    throw new ApiFault(
      answer.status,
      `${method} ${path}: ${error?.message ?? message ?? `the API answers ${answer.status}`}`,
    );
  }
}
