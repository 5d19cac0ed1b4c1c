import type { Knex } from 'knex';
import type { Static, TSchema } from 'typebox';
import { problem } from '../../kernel/problem.js';
import { within, type Scope } from '../../kernel/scope.js';
import { Draft } from '../../models/flows/draft.js';
import type { FlowEntity } from '../../schemas/flows/flow.js';
import { reviveInput } from '../../schemas/fields/validator.js';
import { approvable } from './approve-record.js';

/** A call of a flow that makes or changes a record. */
export interface FlowSave {
  readonly entity: FlowEntity;
  readonly workflow: string;
  /** The start node as the caller sent it. */
  readonly start: Readonly<Record<string, unknown>>;
  /** Whether further steps wait until the flow is called again (spec/flows.md R19, R20). */
  readonly isDraft: boolean;
}

interface Saved {
  readonly id: string;
  readonly approvalStatus: string;
}

/** A record as a flow leaves it; `draft` says that the flow is not completed. */
export type Drafted<Dto> = Dto & { readonly draft?: true };

/** Keeps the input beside its record, whose approvalStatus is Draft. */
async function keepDraft<Dto extends Saved>(
  trx: Knex.Transaction,
  { tenantId }: Scope,
  { entity, workflow, start }: FlowSave,
  saved: Dto,
): Promise<Drafted<Dto>> {
  const { id } = saved;
  await Draft.keep(trx, tenantId, { entity, entityId: id, workflow, input: start });
  await approvable[entity]
    .query(trx)
    .forTenant(tenantId)
    .findById(id)
    .patch({ approvalStatus: 'Draft' });
  return { ...saved, approvalStatus: 'Draft', draft: true as const };
}

/** Makes a record in one transaction; in draft mode the input is kept beside it. */
export async function createByFlow<Dto extends Saved>(
  scope: Scope,
  save: FlowSave,
  create: (scope: Scope) => Promise<Dto>,
): Promise<Drafted<Dto>> {
  return scope.db.transaction(async (trx) => {
    const created = await create(within(scope, trx));
    return save.isDraft ? keepDraft(trx, scope, save, created) : created;
  });
}

/**
 * Changes a record in one transaction. In draft mode the input is stored beside the record.
 * Otherwise an existing draft is completed: `complete` is called with the draft and does the work
 * that was deferred.
 */
export async function saveByFlow<Dto extends Saved>(
  scope: Scope,
  save: FlowSave,
  change: (scope: Scope) => Promise<Dto>,
  complete: (scope: Scope, saved: Dto, draft: Draft) => Promise<Dto> = (_scope, saved) =>
    Promise.resolve(saved),
): Promise<Drafted<Dto>> {
  return scope.db.transaction(async (trx) => {
    const inner = within(scope, trx);
    const saved = await change(inner);
    if (save.isDraft) return keepDraft(trx, scope, save, saved);
    const draft = await Draft.take(trx, scope.tenantId, save.entity, saved.id);
    return draft ? complete(inner, saved, draft) : saved;
  });
}

/** How a create flow makes a record, and changes the draft that an earlier call of it left. */
interface Creating<Create extends TSchema, Update extends TSchema, Dto> {
  readonly forCreate: Create;
  readonly forUpdate: Update;
  readonly create: (scope: Scope, input: Static<Create>) => Promise<Dto>;
  readonly update: (scope: Scope, id: string, input: Static<Update>) => Promise<Dto>;
}

/** Makes a record of a resolved start node, or completes the draft of this id. 404: it is no draft. */
export async function createOrComplete<
  Create extends TSchema,
  Update extends TSchema,
  Dto extends Saved,
>(
  scope: Scope,
  save: FlowSave,
  draft: { readonly id: string | undefined; readonly fields: Readonly<Record<string, unknown>> },
  { forCreate, forUpdate, create, update }: Creating<Create, Update, Dto>,
): Promise<Drafted<Dto>> {
  const { id, fields } = draft;
  if (id === undefined) {
    const input = reviveInput(forCreate, fields);
    return createByFlow(scope, save, (inner) => create(inner, input));
  }
  const input = reviveInput(forUpdate, fields);
  return saveByFlow(scope, save, async (inner) => {
    await requireDraft(inner, save.entity, id);
    return update(inner, id, input);
  });
}

/** The record that a create flow is called with again, to complete it. 404: it is no draft. */
export async function requireDraft(scope: Scope, entity: FlowEntity, id: string): Promise<void> {
  const draft = await Draft.query(scope.db.read)
    .forTenant(scope.tenantId)
    .findOne({ entity, entityId: id });
  if (!draft) throw problem.notFound(`There is no draft of the ${entity} '${id}'.`);
}
