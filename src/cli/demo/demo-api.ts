import { setTimeout as wait } from 'node:timers/promises';
import { ensureTenant } from '../../access/tenants.js';
import { withInstance } from '../start/instance.js';

export const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** The running instance, for a tenant of the demo. */
export interface Api {
  readonly url: string;
  readonly token: string;
}

export async function callApi<T>(
  api: Api,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const response = await fetch(`${api.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}

export const external = '/api/v1/external';

/** A tenant of its own for each run, so that the demo can be run again and again. */
export async function openTenant(apiUrl: string): Promise<Api & { tenantId: string }> {
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const tenantId = `demo-${stamp}-${process.pid}`;
  const token = await withInstance(async ({ database, tokens }) => {
    await ensureTenant(database.platform, tenantId, 'Demo');
    return tokens.issue({
      tenantId,
      orgId: 'demo',
      roles: ['ADMIN'],
      subject: 'demo',
      expiresInSeconds: 86_400,
    });
  });
  return { url: apiUrl, token, tenantId };
}

interface Summary {
  readonly accepted: number;
  readonly rated: number;
  readonly duplicate: number;
  readonly rejected: number;
  readonly pending: number;
}

/** Without progress for so long, nobody rates. */
const patienceMs = 30_000;

/** Waits until every accepted event was rated, recognized as a repeat, or rejected. */
export async function waitUntilRated(
  api: Api,
  accepted: number,
  onProgress: (summary: Summary) => void = () => undefined,
): Promise<Summary> {
  let deadline = Date.now() + patienceMs;
  let pending = Infinity;
  for (;;) {
    const summary = await callApi<Summary>(api, 'GET', '/v1/usage-events/summary');
    onProgress(summary);
    if (summary.accepted >= accepted && summary.pending === 0) return summary;
    if (summary.pending < pending) deadline = Date.now() + patienceMs;
    pending = summary.pending;
    if (Date.now() > deadline)
      throw new Error('The events were not rated in time; is a worker up?');
    await wait(50);
  }
}
