import { historiesOf, workflowIdOf } from '../support/servers/histories.js';
import { openTestInstance } from '../support/servers/instance.js';

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

/** Keeps the history of an execution of a tenant's workflow. */
export async function recordDefinitions(
  keep: (name: string, history: object) => Promise<void>,
): Promise<void> {
  const instance = await openTestInstance({ withWorkers: true });
  const tenant = await instance.tenant();
  const document = { dsl: '1.0.0', namespace: 'test', name: 'all-kinds', version: '1.0.0' };
  await tenant.post('/v1/workflows', { definition: { document, do: tasks } }).expect(201);
  const { body } = await tenant.post('/v1/workflows/all-kinds/execute', { data: {} }).expect(200);
  const { waiter } = instance.platform.temporal;
  const workflowId = await workflowIdOf(tenant, body.executionId);
  await waiter.workflow
    .getHandle(workflowId)
    .result()
    .catch(() => undefined);
  for (const history of await historiesOf(waiter, workflowId)) await keep('definition', history);
  await instance.close();
}
