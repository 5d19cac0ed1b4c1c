import type { FlowRun } from '../../messages/flow-run.js';
import type {
  ErasedRows,
  ErasureInput,
  ErasurePlace,
  ErasureResult,
} from '../../messages/ageing/erasure.js';
import { lastStep, step } from '../runtime/flow-step.js';
import { isAway, persist } from '../runtime/repeat-while-away.js';
import { longSteps, shortSteps } from '../runtime/step-timeouts.js';

/**
 * Erases the person of an account and keeps the books (docs/decisions/0353): first the papers are
 * stored as they are, then the records lose what is personal, then all that tells of it.
 */
export async function erasePerson(run: FlowRun<ErasureInput>): Promise<unknown> {
  const { input } = run;
  await patiently(() => longSteps.keepPapers({ run, input }));
  await step(shortSteps.beginErasure, run, input);
  const erased: Record<string, number> = {};
  let place: ErasurePlace | null = { table: 0, after: null };
  while (place !== null) {
    const from: ErasurePlace = place;
    const { rows, next }: ErasedRows = await patiently(() =>
      longSteps.eraseTraces({ run, input: from }),
    );
    for (const [name, count] of Object.entries(rows)) erased[name] = (erased[name] ?? 0) + count;
    place = next;
  }
  const result: ErasureResult = { accountId: input.accountId, erased };
  return lastStep(shortSteps.endErasure, run, result);
}

const patiently = <T>(work: () => Promise<T>): Promise<T> => persist(work, { isWorthIt: isAway });
