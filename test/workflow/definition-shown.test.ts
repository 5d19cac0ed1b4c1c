import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import { expect } from 'chai';
import { openLog } from '../../src/platform/log.js';
import { openTemporal } from '../../src/platform/temporal/temporal.js';
import { startWorkflow } from '../../src/platform/temporal/workflow-start.js';
import { workflowIdOf } from '../support/servers/histories.js';
import { testServers } from '../support/servers/servers.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const list = { call: 'durabill.operation', with: { operationId: 'listAccounts' } };
const definition = {
  document: { dsl: '1.0.0', namespace: 'test', name: 'shown', version: '1.0.0' },
  do: [
    { look: list },
    { side: { fork: { branches: [{ rest: { wait: 'PT1H' } }, { pause: { wait: 'PT2H' } }] } } },
  ],
};

describe("tenants' workflows in Temporal", function () {
  this.timeout(120_000);
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);

  // spec/beyond.md R394
  it('read as their tasks, and are found by the name and version of their definition', async () => {
    await tenant.post('/v1/workflows', { definition }).expect(201);
    const { body } = await tenant
      .post('/v1/workflows/shown/execute', { data: {}, async: true })
      .expect(200);
    const { waiter } = instance.platform.temporal;
    const handle = waiter.workflow.getHandle(await workflowIdOf(tenant, body.executionId));
    const details = async (): Promise<string> =>
      (await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata'))
        .currentDetails;
    while (!(await details()).includes('pause')) await pause(50);
    const lines = (await details()).split('\n');
    expect(lines[0]).to.match(
      /^- rest: waits until .* \(`\/do\/1\/side\/fork\/branches\/0\/rest`\)$/,
    );
    expect(lines[1]).to.match(/^- pause: waits until /);
    expect(lines).to.have.length(2);
    expect(await (await handle.describe()).staticSummary()).to.equal('shown, version 1');
    const summaries = async (): Promise<unknown[]> => {
      const { events } = await handle.fetchHistory();
      return (events ?? []).flatMap(({ userMetadata }) =>
        userMetadata?.summary ? [defaultPayloadConverter.fromPayload(userMetadata.summary)] : [],
      );
    };
    // A branch is shown before its timer is in the history.
    while ((await summaries()).length < 4) await pause(50);
    expect(await summaries()).to.have.members([
      'shown, version 1',
      'look: listAccounts',
      'rest: waits',
      'pause: waits',
    ]);
    const query = `Definition = "shown" and DefinitionVersion = 1 and TenantId = "${tenant.id}"`;
    while ((await waiter.workflow.count(query)).count === 0) await pause(50);
    await handle.terminate('seen');
  });

  // spec/beyond.md R394
  it('read as theirs where an event has started them, too', async () => {
    const event = 'custom.called';
    const named = (name: string, more: object) => ({
      ...definition,
      document: { ...definition.document, name },
      ...more,
    });
    const started = named('started', { schedule: { on: { one: { with: { type: event } } } } });
    await tenant.post('/v1/workflows', { definition: started }).expect(201);
    const emit = { emit: { event: { with: { type: event, data: {} } } } };
    const calling = named('calling', { do: [{ tell: emit }] });
    await tenant.post('/v1/workflows', { definition: calling }).expect(201);
    await tenant.post('/v1/workflows/calling/execute', { data: {} }).expect(200);
    const path = '/v1/workflows/started/executions';
    const executions = async () => (await tenant.get(path).expect(200)).body.data;
    while ((await executions()).length === 0) await pause(50);
    const [{ executionId }] = await executions();
    const { waiter } = instance.platform.temporal;
    const handle = waiter.workflow.getHandle(await workflowIdOf(tenant, executionId));
    const summary = await (await handle.describe()).staticSummary();
    expect(summary).to.equal('started, version 1, started by custom.called');
    const query = `Definition = "started" and TenantId = "${tenant.id}"`;
    while ((await waiter.workflow.count(query)).count === 0) await pause(50);
    await handle.terminate('seen');
  });

  // spec/beyond.md R394
  it('start on a server that has no room for what they are found by', async () => {
    const server = (await testServers()).temporal;
    const { address } = server;
    const namespace = 'without-room';
    const connection = await Connection.connect({ address });
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
    // Of whole numbers it has three places.
    for (;;) {
      const taken = { A: 3, B: 3, C: 3 };
      const isThere = await connection.operatorService
        .addSearchAttributes({ namespace, searchAttributes: taken })
        .then(
          () => true,
          () => false,
        );
      if (isThere) break;
      await pause(100);
    }
    const said: string[] = [];
    const temporal = await openTemporal({ ...server, namespace }, 'without-room', {
      log: openLog('warn', { write: (line) => said.push(line) }),
      hasMetrics: false,
      payloadKeys: undefined,
      secrets: { secret: Buffer.alloc(32, 1), previousSecrets: [] },
      unsignedUntil: undefined,
      tracing: undefined,
      onStarted: () => undefined,
    });
    try {
      expect(temporal.findsDefinitions).to.equal(false);
      expect(said.join('')).to.include('not found by them');
      const run = {
        executionId: '0190a000-0000-7000-8000-000000000000',
        tenantId: 't',
        orgId: null,
        actor: 'a',
        requestId: 'r',
        input: {},
      };
      const handle = await startWorkflow(temporal, {
        type: 'runDefinition',
        workflowId: 't/workflow/1',
        input: run,
        subject: { tenantId: 't', entityType: 'workflow', entityId: '1', actor: 'a' },
        definition: { name: 'x', version: 1 },
        summary: 'x, version 1',
      });
      expect(handle.firstExecutionRunId).to.match(/^[0-9a-f-]{36}$/);
    } finally {
      await temporal.close();
      await connection.close();
    }
  });
});
