import { setTimeout as pause } from 'node:timers/promises';
import { historiesOf, workflowIdOf } from '../support/servers/histories.js';
import { openTestInstance, type TestTenant } from '../support/servers/instance.js';
import { recordLimits } from './record-limits.js';

/** Of what replays: each kind of task, failures that are caught, and what is undone. */
const tasks = [
  { first: { set: { list: [1, 2, 3], sum: 0 }, export: { as: { kept: '${ output.list }' } } } },
  {
    loop: {
      for: { each: 'x', in: '${ input.list }' },
      do: [{ add: { set: { list: [], sum: '${ input.sum + x }' } } }],
    },
  },
  {
    side: {
      fork: {
        branches: [
          { short: { wait: { milliseconds: 20 } } },
          {
            look: {
              call: 'durabill.operation',
              with: { operationId: 'listAccounts', parameters: { size: 1 } },
            },
          },
        ],
      },
    },
  },
  {
    make: {
      call: 'durabill.operation',
      with: { operationId: 'createAccount', body: { name: 'Made', externalId: 'made' } },
      'durabill.undo': {
        call: 'durabill.operation',
        with: { operationId: 'deleteAccount', parameters: { accountId: '${ output.id }' } },
      },
    },
  },
  {
    twice: {
      try: [{ stop: { raise: { error: { type: 'urn:no', status: 409 } } } }],
      catch: {
        errors: { with: { status: 409 } },
        retry: { delay: { milliseconds: 10 }, limit: { attempt: { count: 2 } } },
        do: [{ go: { set: { sum: '${ context.kept.size() }' } } }],
      },
    },
  },
  { finish: { if: '${ input.sum > 2 }', raise: { error: { type: 'urn:end', status: 409 } } } },
];

/** What waits for others: for an event that comes and one that does not, and for people. */
const waits = [
  {
    side: {
      fork: {
        branches: [
          {
            hear: {
              listen: { to: { one: { with: { type: 'custom.go', data: '${ data.n > 1 }' } } } },
            },
          },
          { tell: { emit: { event: { with: { type: 'custom.begun', data: { n: 1 } } } } } },
        ],
      },
    },
  },
  {
    late: {
      try: [
        {
          never: {
            listen: {
              to: {
                any: [{ with: { type: 'custom.never' } }, { with: { type: 'mdata.deleted' } }],
              },
              timeout: { milliseconds: 50 },
            },
          },
        },
      ],
      catch: { errors: { with: { status: 408 } }, do: [{ go: { set: { late: true } } }] },
    },
  },
  {
    ask: {
      call: 'durabill.approval',
      with: { title: 'Go on?', details: {}, timeout: 'PT1H', onTimeout: 'fail' },
    },
  },
];
const teller = [{ tell: { emit: { event: { with: { type: 'custom.go', data: { n: 2 } } } } } }];

const definitionOf = (name: string, list: readonly object[]): object => ({
  definition: { document: { dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' }, do: list },
});

/** Begins what waits, and does what it waits for; its workflow. */
async function waitFor(tenant: TestTenant): Promise<string> {
  await tenant.post('/v1/workflows', definitionOf('waits', waits)).expect(201);
  await tenant.post('/v1/workflows', definitionOf('teller', teller)).expect(201);
  const data = { data: {}, async: true };
  const { body } = await tenant.post('/v1/workflows/waits/execute', data).expect(200);
  for (;;) {
    await tenant.post('/v1/workflows/teller/execute', { data: {} }).expect(200);
    const { body: asked } = await tenant.get('/v1/approvals?kind=workflow&status=pending');
    const [approval] = asked.data as readonly { readonly id: string }[];
    if (approval) {
      await tenant.post(`/v1/approvals/${approval.id}`, { decision: 'approve' }).expect(200);
      return workflowIdOf(tenant, body.executionId);
    }
    await pause(300);
  }
}

/** Keeps the histories of executions of a tenant's workflows. */
export async function recordDefinitions(
  keep: (name: string, history: object) => Promise<void>,
): Promise<void> {
  const instance = await openTestInstance({ withWorkers: true });
  const tenant = await instance.tenant();
  await tenant.post('/v1/workflows', definitionOf('all-kinds', tasks)).expect(201);
  const { body } = await tenant.post('/v1/workflows/all-kinds/execute', { data: {} }).expect(200);
  const { waiter } = instance.platform.temporal;
  const workflowId = await workflowIdOf(tenant, body.executionId);
  await waiter.workflow
    .getHandle(workflowId)
    .result()
    .catch(() => undefined);
  for (const history of await historiesOf(waiter, workflowId)) {
    await keep('definition', history);
    // That one was recorded before rows of the timeline went with calls, and stays.
    await keep('definition-rows-with-calls', history);
  }
  const waited = await waitFor(tenant);
  await waiter.workflow.getHandle(waited).result();
  for (const history of await historiesOf(waiter, waited)) await keep('definition-waits', history);
  await recordLimits(instance, tenant, keep);
  await instance.close();
}
