import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../src/activities/index.js';
import type { DefinitionInput } from '../src/messages/definitions/definition-run.js';
import type { FlowRun } from '../src/messages/flow-run.js';

const { callTask } = proxyActivities<Activities>({ startToCloseTimeout: '2 minutes' });

/** The floor of every durable path: a workflow that does nothing. */
export function doNothing(): Promise<string> {
  return Promise.resolve('done');
}

/** The floor of tenants' definitions: the same calls, one after the other, written in TypeScript. */
export async function callInTurn({
  run,
  calls,
  given,
}: {
  readonly run: FlowRun<DefinitionInput>;
  readonly calls: number;
  readonly given: object;
}): Promise<unknown> {
  let output: unknown;
  for (let seq = 1; seq <= calls; seq += 1) {
    const input = { seq, call: 'durabill.operation', with: given, isUndo: false };
    output = await callTask({ run, input });
  }
  return output;
}
