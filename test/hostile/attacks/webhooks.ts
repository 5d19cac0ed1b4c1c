import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Attack } from '../attack.js';
import type { Attacker } from '../attacker.js';

/** Webhooks to names and receivers that take the sender's time or more. */

const textOf = (value: unknown): string => JSON.stringify(value);

/** The id of a new webhook, or '' where its address is refused; throws where there is no room for it. */
async function makeWebhook(attacker: Attacker, url: string): Promise<string> {
  const body = textOf({ url, events: ['mdata.created'], secret: 's'.repeat(32) });
  const { status, text } = await attacker.send({ path: '/v1/webhooks', method: 'POST', body });
  if (status !== 201 && status !== 400) throw new Error(`POST /v1/webhooks: ${status} ${text}`);
  return status === 201 ? String((JSON.parse(text) as { id: unknown }).id) : '';
}

/** Webhooks to these addresses, and records whose creation they are told of. */
async function tellThem(attacker: Attacker, urls: readonly string[]): Promise<void> {
  for (const url of urls) await makeWebhook(attacker, url);
  const id = await attacker.makeId(
    '/v1/mobjects',
    { name: `w-${attacker.stamp}` },
    attacker.loot.hoardId,
  );
  const path = `/v1/mobjects/${id}/mdata`;
  await attacker.flood(
    (index) => ({ path, method: 'POST', body: textOf({ data: { index } }) }),
    12,
  );
}

/** The list of what followed an execution that made 1,000 records, of each of which a webhook is told. */
async function followedByMany(attacker: Attacker): Promise<string> {
  const { stamp, loot } = attacker;
  const mobjectId = await attacker.makeId('/v1/mobjects', { name: `f-${stamp}` }, loot.hoardId);
  const name = `followed-${stamp}`;
  const body = { data: names(1_000, String).map((text) => ({ text })) };
  const call = { operationId: 'createRecords', parameters: { mobjectId }, body };
  const definition = {
    document: { dsl: '1.0.0', namespace: 'attacker', name, version: '1.0.0' },
    do: [{ fill: { call: 'durabill.operation', with: call } }],
  };
  await attacker.make('/v1/workflows', { definition });
  const run = await attacker.make(`/v1/workflows/${name}/execute`, { data: {} });
  const begun = run?.['executionId'];
  const executionId = typeof begun === 'string' ? begun : mobjectId;
  return `/v1/workflows/${name}/executions/${executionId}/deliveries?limit=1000`;
}

/** No delivery of this attack reaches into the next one, which finds room for its own webhooks. */
async function takeAway(attacker: Attacker): Promise<void> {
  const { webhookId } = attacker.loot.params;
  await attacker.query(
    `delete from webhook where tenant_id = 'attacker' and id <> '${webhookId ?? ''}'`,
  );
}

const names = (count: number, make: (index: number) => string): string[] =>
  Array.from({ length: count }, (_each, index) => make(index));

async function withReceiver(
  answer: Parameters<typeof createServer>[1],
  work: (url: string) => Promise<void>,
): Promise<void> {
  const server: Server = createServer(answer ?? (() => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const receiving = (name: string, answer: Parameters<typeof createServer>[1]): Attack => ({
  name,
  needsPrivateWebhooks: true as const,
  async run(attacker) {
    await withReceiver(answer, async (url) => {
      await tellThem(
        attacker,
        names(20, (index) => `${url}/${index}`),
      );
      await takeAway(attacker);
    });
  },
});

export const webhookAttacks: readonly Attack[] = [
  {
    name: 'webhooks to names that do not resolve',
    operations: ['createWebhook'],
    isShort: true,
    async run(attacker) {
      await tellThem(
        attacker,
        names(20, (index) => `https://no-such-host-${index}.invalid/hook`),
      );
      await takeAway(attacker);
    },
  },
  {
    name: 'webhooks to private addresses and odd names',
    operations: ['createWebhook', 'updateWebhook'],
    async run(attacker) {
      const urls = [
        'http://localhost/',
        'http://127.0.0.1/',
        'http://[::1]/',
        'http://[::7f00:1]/',
        'http://168.63.129.16/',
        'http://169.254.169.254/',
        'http://[::ffff:127.0.0.1]/',
        'http://0x7f.1/',
        'http://2130706433/',
        'http://localtest.me/',
        'http://xn--/',
        `http://${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.invalid/`,
        `http://${'a.'.repeat(120)}invalid/`,
      ];
      await tellThem(attacker, urls);
      await takeAway(attacker);
    },
  },
  {
    name: 'webhooks by the thousand',
    operations: ['createWebhook', 'listWebhooks', 'deleteWebhook'],
    async run(attacker) {
      await attacker.flood((index) => ({
        path: '/v1/webhooks',
        method: 'POST',
        body: textOf({
          url: `https://hooks.invalid/${index}`,
          events: ['payment.saved'],
          active: false,
          secret: 's'.repeat(1_000),
        }),
      }));
      await takeAway(attacker);
    },
  },
  {
    name: 'webhooks tested and redelivered',
    operations: [
      'testWebhook',
      'redeliverWebhook',
      'recoverWebhook',
      'listWebhookDeliveries',
      'listExecutionDeliveries',
    ],
    needsPrivateWebhooks: true,
    async run(attacker) {
      const answer = (_request: unknown, response: { end: () => void }) => response.end();
      await withReceiver(answer, async (url) => {
        const id = await makeWebhook(attacker, url);
        const path = `/v1/webhooks/${id}`;
        const test = await attacker.makeId(`${path}/test`, undefined);
        const sent = [`${path}/deliveries/${test}/redeliver`, `${path}/test`];
        const lists = [`${path}/deliveries?limit=1000`, await followedByMany(attacker)];
        await attacker.flood((index) => {
          const post = sent[index % 4];
          return post === undefined
            ? { path: lists[(index % 4) - 2] ?? path }
            : { path: post, method: 'POST' as const };
        });
      });
      await takeAway(attacker);
    },
  },
  receiving('webhooks to receivers that never answer', () => undefined),
  receiving('webhooks to receivers that answer byte by byte for ever', (_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'), 50);
    response.once('close', () => clearInterval(timer));
  }),
  receiving('webhooks to receivers that send 100 MB', (_request, response) => {
    response.writeHead(500);
    const chunk = Buffer.alloc(1024 * 1024, 'a');
    let left = 100;
    const push = (): void => {
      while (left > 0 && !response.destroyed) {
        left -= 1;
        if (!response.write(chunk)) return void response.once('drain', push);
      }
      response.end();
    };
    push();
  }),
  receiving('webhooks to receivers that redirect in circles', (request, response) => {
    response.writeHead(307, { location: request.url ?? '/' }).end();
  }),
  receiving('webhooks to receivers that break off', (_request, response) => {
    response.socket?.destroy();
  }),
];
