import type { Deleted } from '../../commands/payments/payment.js';
import type { FlowSave } from '../../commands/flows/save-by-flow.js';
import type { FlowInput } from '../../messages/flow-run.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import type { Platform } from '../../process/platform.js';
import { resolveStart } from '../../queries/flows/resolve-start.js';
import { flows, type FlowWorkflow } from '../../schemas/flows/index.js';
import { flowStep, type FlowStep, type StepTogether, type StepWork } from './flow-step.js';

/** A start node that a step works with. */
export interface ResolvedStart {
  /** Under the names of commands, references as ids. */
  readonly resolved: Readonly<Record<string, unknown>>;
  readonly save: FlowSave;
  readonly draftId: string | undefined;
}

/** The answer of a read-only call in draft mode. */
export type Undone<Dto> = Dto & { readonly draft: true };

/** The step of a flow that is called by its slug: one at a time, or many in a batch. */
export type SlugStep<Input, Output> = FlowStep<Input, Output> & {
  readonly flow: FlowWorkflow;
  /** Does the items of a batch's step with few statements, where their outputs are short. */
  readonly together: StepTogether<FlowInput, Output> | undefined;
};

/** Makes work the step of a flow; its input includes that of calls by slug. */
export const slugStep = <Input, Output>(
  platform: Platform,
  flow: FlowWorkflow,
  work: StepWork<Input, Output>,
  together?: StepTogether<FlowInput, Output>,
): SlugStep<Input, Output> => Object.assign(flowStep(platform, work), { flow, together });

/** Makes a command the step of a flow that is called with its start node. */
export function startStep<Output>(
  platform: Platform,
  workflow: FlowWorkflow,
  work: (scope: Scope, start: ResolvedStart) => Promise<Output>,
) {
  const flow = flows[workflow];
  return slugStep(platform, workflow, async (scope, { start, isDraft, draftId }: FlowInput) => {
    const resolved = await resolveStart(scope, flow, start);
    const save: FlowSave = { entity: flow.entity, workflow, start, isDraft };
    return work(scope, { resolved, save, draftId });
  });
}

/** Reads the record that a flow is about, as it is on a day. */
type Read<Dto> = (
  db: Scope['db']['read'],
  tenantId: string,
  id: string,
  day: string,
) => Promise<Dto>;

/** A step that does something with one record; in draft mode it only shows it. */
export function actOn<Dto extends object>(
  platform: Platform,
  workflow: FlowWorkflow,
  read: Read<Dto>,
  act: (scope: Scope, id: string) => Promise<Dto>,
) {
  return startStep(
    platform,
    workflow,
    async (scope, { resolved, save }): Promise<Dto | Undone<Dto>> => {
      const id = String(resolved['id']);
      return save.isDraft ? readAsDraft(scope, read, id) : act(scope, id);
    },
  );
}

/** A step that deletes one record; in draft mode it only shows it. */
export function deletedBy<Dto extends object>(
  platform: Platform,
  workflow: FlowWorkflow,
  read: Read<Dto>,
  remove: (scope: Scope, id: string) => Promise<unknown>,
) {
  return startStep(
    platform,
    workflow,
    async (scope, { resolved, save }): Promise<Deleted | Undone<Dto>> => {
      const id = String(resolved['id']);
      if (save.isDraft) return readAsDraft(scope, read, id);
      await remove(scope, id);
      return { id, deleted: true as const };
    },
  );
}

const readAsDraft = async <Dto extends object>(
  { db, tenantId, now }: Scope,
  read: Read<Dto>,
  id: string,
): Promise<Undone<Dto>> => ({
  ...(await read(db.read, tenantId, id, utcDate(now()))),
  draft: true as const,
});
