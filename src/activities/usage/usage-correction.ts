import { Context } from '@temporalio/activity';
import {
  correctEvent,
  statusAfter,
  type EventCorrection,
} from '../../commands/usage/corrections/correct-event.js';
import { dismissPage } from '../../commands/usage/corrections/dismiss-events.js';
import { previewCorrection } from '../../commands/usage/corrections/preview-correction.js';
import { previewRerating, rerateUsage } from '../../commands/usage/corrections/rerate-range.js';
import { readAmendment } from '../../commands/usage/corrections/read-amendment.js';
import type { StorePlans } from '../../commands/usage/corrections/write-correction.js';
import type { Scope } from '../../kernel/scope.js';
import type {
  AmendEventInput,
  CancelEventInput,
  DismissalPage,
  DismissalResult,
  RerateInput,
} from '../../messages/usage-workflow.js';
import { Execution } from '../../models/flows/execution.js';
import { StoredRatingPlan } from '../../models/usage/plans/rating-plan.js';
import type { Platform } from '../../process/platform.js';
import { flowStep, preparedStep, type StepCall } from '../flows/flow-step.js';
import { currentPlace } from '../flows/step-once.js';
import { beating } from '../heartbeat.js';
import { InTurn } from '../in-turn.js';

/** What is asked for, and how its plans are stored while its transaction goes on. */
interface Asked<Input> {
  readonly input: Input;
  readonly storePlans: StorePlans;
}

const asked = <Input>({ db, tenantId }: Scope, input: Input): Asked<Input> => ({
  input,
  storePlans: (plans) =>
    db.transaction((trx) => StoredRatingPlan.insertMissing(trx, tenantId, plans)),
});

/** Dismisses a page, and counts it in the execution with the same commit. */
async function dismissCounted(scope: Scope, page: DismissalPage, executionId: string) {
  const done = await dismissPage(scope, page);
  await scope.db.transaction((trx) =>
    Execution.addProgress(trx, scope.tenantId, executionId, 'dismissed', done.dismissed),
  );
  return done;
}

export function usageCorrectionActivities(platform: Platform) {
  const turns = new InTurn();
  /**
   * A correction waits for the one before it without a connection, and says that it is alive; a dry run
   * waits for nobody.
   */
  const inTurn =
    <Input extends { readonly dryRun?: boolean }, Output>(
      step: (call: StepCall<Input>) => Promise<Output>,
    ) =>
    (call: StepCall<Input>): Promise<Output> =>
      beating(Context.current(), () =>
        call.input.dryRun === true ? step(call) : turns.run(call.run.tenantId, () => step(call)),
      );
  const prepare = async (
    scope: Scope,
    { dryRun = false }: CancelEventInput,
    correction: EventCorrection,
  ) => ({
    ...asked(scope, correction),
    preview: dryRun ? await previewCorrection(scope, correction) : null,
  });
  const correct = async (
    scope: Scope,
    { input, storePlans, preview }: Awaited<ReturnType<typeof prepare>>,
    executionId: string,
  ) => {
    if (preview) {
      const { eventId } = input;
      const status = statusAfter(input);
      const dryRun = true as const;
      return { eventId, status, correctionId: null, executionId, dryRun, preview };
    }
    const { workflowId, runId } = currentPlace();
    const run = { workflowId, runId, at: scope.now() };
    return correctEvent(scope, input, { run, executionId, storePlans });
  };
  const cancel = preparedStep(
    platform,
    (scope, input: CancelEventInput) => prepare(scope, input, { ...input, amended: null }),
    correct,
    'batch',
  );
  const amend = preparedStep(
    platform,
    async (scope, input: AmendEventInput) =>
      prepare(scope, input, { ...input, amended: await readAmendment(scope, input) }),
    correct,
    'batch',
  );
  const rerate = preparedStep(
    platform,
    async (scope, input: RerateInput) => ({
      ...asked(scope, input),
      preview: input.dryRun ? await previewRerating(scope, input) : null,
    }),
    async (scope, { input, storePlans, preview }, executionId) =>
      preview ?? rerateUsage(scope, input, { executionId, storePlans }),
    'batch',
  );
  return {
    /** Cancels a usage event, with all that follows. */
    cancelUsageEvent: inTurn(cancel),

    /** Gives a usage event other content. */
    amendUsageEvent: inTurn(amend),

    /** Dismisses a page of rejected events. */
    dismissPage: flowStep(platform, dismissCounted),

    /** Ends a dismissal, whose figures are kept with its execution. */
    endDismissal: flowStep(platform, (_scope, done: DismissalResult) => Promise.resolve(done)),

    /** Begins to rate a range again: from now on its execution can be read. */
    beginRerating: flowStep(platform, (_scope, input: RerateInput) => Promise.resolve(input)),

    /** Rates a range again. */
    rerateUsage: inTurn(rerate),
  };
}
