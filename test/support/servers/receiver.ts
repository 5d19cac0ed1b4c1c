import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { TestTenant } from './instance.js';

/** A delivery as it arrived. */
export interface Received {
  readonly id: string;
  readonly timestamp: number;
  readonly signature: string;
  readonly path: string;
  readonly body: string;
  readonly payload: { readonly event: string; readonly timestamp: string; readonly data: unknown };
}

type Answer = (request: Received, response: ServerResponse) => void;

/** A server that webhooks are sent to; it verifies nothing by itself. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** What it answers; 204 at first. */
  answer: Answer;
  /** Resolves with what has arrived once `isEnough` of it has. */
  until: (
    isEnough: (received: readonly Received[]) => boolean,
    limitMs?: number,
  ) => Promise<Received[]>;
  close(): Promise<void>;
}

export const ok: Answer = (_request, response) => {
  response.writeHead(204).end();
};

async function read(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString('utf8');
  const header = (name: string): string => String(request.headers[name] ?? '');
  return {
    id: header('webhook-id'),
    timestamp: Number(header('webhook-timestamp')),
    signature: header('webhook-signature'),
    path: request.url ?? '',
    body,
    payload: JSON.parse(body) as Received['payload'],
  };
}

/** Throws unless the delivery is signed with this secret, by the judgement of `standardwebhooks`. */
export function verify(secret: string, { id, timestamp, signature, body }: Received): unknown {
  const key = secret.startsWith('whsec_') ? secret : Buffer.from(secret).toString('base64');
  return new Webhook(key).verify(body, {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  });
}

interface ReceiverOptions {
  readonly port?: number;
  /** Off: the process may end while it listens. */
  readonly keepsProcess?: boolean;
}

/** Waits until no delivery to a webhook is on its way. */
export async function waitUntilDelivered(tenant: TestTenant, webhookId: string): Promise<void> {
  const path = `/v1/webhooks/${webhookId}/deliveries?limit=1000`;
  for (const deadline = Date.now() + 60_000; Date.now() < deadline;) {
    const { body } = await tenant.get(path).expect(200);
    const deliveries = body.data as { readonly endedAt: string | null }[];
    if (deliveries.every(({ endedAt }) => endedAt !== null)) return;
    await wait(25);
  }
  throw new Error('A delivery has not ended within 60 s.');
}

export async function openReceiver({
  port = 0,
  keepsProcess = true,
}: ReceiverOptions = {}): Promise<Receiver> {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    void read(request).then((delivery) => {
      received.push(delivery);
      receiver.answer(delivery, response);
      for (const look of waiting) look();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  if (!keepsProcess) server.unref();
  const bound = (server.address() as AddressInfo).port;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${bound}/hook`,
    port: bound,
    received,
    answer: ok,
    async until(isEnough, limitMs = 60_000) {
      const limit = new AbortController();
      const late = wait(limitMs, undefined, { signal: limit.signal }).then(() => {
        const seen = received.map(({ id, payload }) => `${payload.event} ${id}`).join('\n');
        throw new Error(`The receiver did not get what was expected. It got:\n${seen}`);
      });
      let look = (): void => undefined;
      const enough = new Promise<void>((resolve) => {
        look = () => {
          if (isEnough(received)) resolve();
        };
        waiting.add(look);
        look();
      });
      try {
        await Promise.race([enough, late]);
        return received;
      } finally {
        waiting.delete(look);
        late.catch(() => undefined);
        limit.abort();
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}
