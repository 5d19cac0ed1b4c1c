import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { styleText } from 'node:util';
import { isSigned } from '../../adapters/webhooks/webhook-signature.js';
import { newWebhookSecret } from '../../platform/webhook-secret.js';
import { instanceAddresses, withInstance } from '../start/instance.js';
import { issueForCommand } from '../access/named-tenant.js';
import type { WebhookListenOptions } from './webhook.js';

const tokenSeconds = 7 * 86_400;
/** How long a call of the API may take. */
const callMs = 10_000;
/** Standard Webhooks: what is older may have been recorded and sent again by somebody else. */
const toleranceSeconds = 300;

function tokenOf({ token, tenant }: WebhookListenOptions): Promise<string> {
  if (token !== undefined) return Promise.resolve(token);
  const given = { orgId: null, roles: ['ADMIN'], expiresInSeconds: tokenSeconds };
  return withInstance((access) => issueForCommand(access, tenant, given));
}

type Style = Parameters<typeof styleText>[0];

/** Colour is for a terminal; in a file or a pipe it is noise. */
const paint = (style: Style, text: string): string =>
  process.stdout.isTTY && process.env['NO_COLOR'] === undefined ? styleText(style, text) : text;

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function verdictOf(secret: string, { headers }: IncomingMessage, body: string): string | undefined {
  const id = String(headers['webhook-id'] ?? '');
  const timestamp = Number(headers['webhook-timestamp']);
  const isFresh = Math.abs(Date.now() / 1000 - timestamp) <= toleranceSeconds;
  if (!isSigned(secret, { id, timestamp, body }, String(headers['webhook-signature'] ?? ''))) {
    return 'NOT SIGNED BY THIS WEBHOOK';
  }
  return isFresh ? undefined : 'TOO OLD';
}

function kindOf(body: string): string {
  try {
    return String((JSON.parse(body) as { event?: unknown }).event);
  } catch {
    return 'no JSON';
  }
}

/** Prints what arrives; what is not right is refused, so that it is seen in the deliveries too. */
async function startServer(secret: string): Promise<Server> {
  const seen = new Set<string>();
  const server = createServer((request, response) => {
    const shown = readText(request).then((body) => {
      const fault = verdictOf(secret, request, body);
      response.writeHead(fault === undefined ? 204 : 400).end();
      const id = String(request.headers['webhook-id'] ?? 'without id');
      const again = seen.has(id) ? ' again' : '';
      seen.add(id);
      const verdict =
        fault === undefined ? paint('green', `verified${again}`) : paint('red', fault);
      const time = paint('dim', new Date().toISOString().slice(11, 23));
      process.stdout.write(`${time} ${paint('bold', kindOf(body))} ${id} ${verdict}\n${body}\n`);
    });
    // A delivery that is cut off is sent again.
    shown.catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}

interface Api {
  readonly url: string;
  readonly token: string;
}

async function callApi({ url, token }: Api, method: string, path: string, body?: object) {
  const response = await fetch(`${url}${path}`, {
    method,
    signal: AbortSignal.timeout(callMs),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new Error(`The API at ${url} does not answer.`, { cause: error });
  });
  const text = await response.text();
  if (response.ok) return text;
  const { error } = JSON.parse(text) as { error?: { message?: string } };
  throw new Error(`${response.status}: ${error?.message ?? text}`);
}

/** Resolves with the first signal; further ones (Ctrl-C below npm comes twice) end nothing early. */
const ended = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => resolve());
    }
  });

/** Listens until a signal ends it; then the webhook is removed. */
export async function listenToWebhooks(options: WebhookListenOptions): Promise<void> {
  const url = (options.url ?? (await instanceAddresses()).apiUrl).replace(/\/+$/, '');
  const api: Api = { url, token: await tokenOf(options) };
  const secret = newWebhookSecret();
  const server = await startServer(secret);
  const { port } = server.address() as AddressInfo;
  // From here on a signal must not leave the webhook behind.
  const end = ended();
  const webhook = { url: `http://127.0.0.1:${port}/`, events: [...options.events], secret };
  const { id } = JSON.parse(await callApi(api, 'POST', '/v1/webhooks', webhook)) as { id: string };
  process.stderr.write(`listening as webhook ${id}; Ctrl-C ends it and removes the webhook\n`);
  await end;
  await callApi(api, 'DELETE', `/v1/webhooks/${id}`);
  server.close();
  server.closeAllConnections();
  process.stderr.write('the webhook is removed\n');
}
