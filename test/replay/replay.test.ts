import { expect } from 'chai';
import { openLog } from '../../src/platform/log.js';
import { installRuntime } from '../../src/platform/temporal/temporal.js';
import { loadWorkflowBundle } from '../../src/worker/workflow-bundle.js';
import * as workflows from '../../src/workflows/index.js';
import { replayHistories } from '../support/servers/histories.js';
import { listHistories, readHistory } from './history-file.js';

/** A workflow that was started by an older release has to go on under this one. */
describe('replay', function () {
  // Bundling for the first time takes seconds, and there are many histories.
  this.timeout(180_000);

  before(() => installRuntime(openLog('silent')));

  it('of every recorded history takes the same way', async () => {
    const workflowBundle = await loadWorkflowBundle(openLog('silent'));
    const replayed = new Set<string>();
    async function* recorded() {
      for (const workflowId of await listHistories()) {
        const history = await readHistory(workflowId);
        const [first] = history.events;
        replayed.add(first?.workflowExecutionStartedEventAttributes?.workflowType?.name ?? '');
        yield { workflowId, history };
      }
    }
    await replayHistories(workflowBundle, recorded());
    expect([...replayed]).to.have.members(Object.keys(workflows));
  });

  it('would tell when a workflow takes another way', async () => {
    const workflowBundle = await loadWorkflowBundle(openLog('silent'));
    const history = await readHistory('rate-usage-after-failures.1.json');
    const started = history.events[0]?.workflowExecutionStartedEventAttributes;
    if (started) started.workflowType = { name: 'retryUsage' };
    const changed = [{ workflowId: 'changed', history }];
    const outcome = await replayHistories(workflowBundle, changed).then(
      () => 'replayed',
      (error: Error) => `${error.message}: ${(error.cause as Error).name}`,
    );
    expect(outcome).to.equal('changed takes another way: DeterminismViolationError');
  });
});
