/**
 * Writes the histories that `replay.test.ts` replays: npm run record-histories. Histories of an older
 * release stay, so that its running workflows are known to go on; new ones get names of their own.
 */
import { startWorkers } from '../../src/worker/main.js';
import { openTestInstance } from '../support/instance.js';
import { stopTestServers } from '../support/servers.js';
import { writeHistory } from './history-file.js';
import {
  createAccount,
  createService,
  event,
  rate,
  usage,
  waitUntilRated,
} from '../support/usage.js';

const release = process.argv[2] ?? '1';

const instance = await openTestInstance();
const { temporal } = instance.platform;

/** The first steps fail, as they do when the database is away, so that timers are in the history. */
let failuresLeft = 0;
const workers = await startWorkers(instance.platform, {
  activityInterceptors: [
    () => ({
      inbound: {
        execute(input, next): Promise<unknown> {
          if (failuresLeft === 0) return next(input);
          failuresLeft -= 1;
          return Promise.reject(new Error('The database does not answer.'));
        },
      },
    }),
  ],
});

async function record(name: string, workflowId: string): Promise<void> {
  const handle = temporal.waiter.workflow.getHandle(workflowId);
  await handle.result();
  await writeHistory(`${name}.${release}`, await handle.fetchHistory());
  console.log(name);
}

const tenant = await instance.tenant();
const serviceId = await createService(tenant, 'Calls');
await createAccount(tenant, 'acme');
const rated = await rate(tenant, usage('acme', serviceId));
await record('rate-usage', rated.workflowId as string);

failuresLeft = 4;
const delayed = await rate(tenant, usage('acme', serviceId));
await record('rate-usage-after-failures', delayed.workflowId as string);

const rejected = await rate(tenant, usage('late', serviceId));
const messages = Array.from({ length: 600 }, () => ({ message: usage('late', serviceId) }));
await tenant.post('/v1/ingest/usage/batch', messages).expect(200);
await waitUntilRated(tenant, 603);
await createAccount(tenant, 'late');
await tenant.post(`/v1/usage-events/${rejected.id as string}/retry`).expect(200);
const retried = await event(tenant, rejected.id as string);
await record('retry-usage', retried.workflowId as string);

failuresLeft = 3;
await tenant.post('/v1/usage-events/retry', {}).expect(200);
const last = await event(tenant, String(messages[0]?.message.externalTransactionId));
await record('retry-usage-in-pages', last.workflowId as string);

await workers.drain();
await instance.close();
await stopTestServers();
process.exit(0);
