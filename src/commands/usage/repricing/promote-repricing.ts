import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { problem } from '../../../kernel/problem.js';
import { within, type Scope } from '../../../kernel/scope.js';
import { parseJson } from '../../../kernel/text/json.js';
import type { PromoteInput } from '../../../messages/usage-workflow.js';
import { Repricing } from '../../../models/usage/repricing/repricing.js';
import { validate } from '../../../schemas/fields/validator.js';
import type { Promoted } from '../../../schemas/usage/promoted.js';
import { RepricingChanges } from '../../../schemas/usage/repricing.js';
import { promoteChange, type PromotedVersion } from './change-kinds.js';

/** 400, 409: it has nothing to put in force, or must not. */
function requirePromotable(repricing: Repricing, isForced: boolean): void {
  if (repricing.endedAt === null) {
    throw problem.conflict('The repricing has not ended.', { field: 'status' });
  }
  if (repricing.promotedAt !== null) {
    throw problem.conflict(`It was promoted already, from ${repricing.promotedFrom ?? ''} on.`);
  }
  if (repricing.isPassed === true || isForced) return;
  const [first] = repricing.violations ?? [];
  throw problem.conflict(
    `The guard did not pass: ${first?.limit ?? ''} of ${first?.max ?? ''} percent is not kept. ` +
      'force: true promotes it nevertheless, and the audit says so.',
    { field: 'force' },
  );
}

/** Takes back what was only tried; the transaction goes on. */
class TriedOnly extends Error {}

/** Does something in a part of a transaction that is taken back. */
async function tryOnly<T>(
  trx: Knex.Transaction,
  work: (part: Knex.Transaction) => Promise<T>,
): Promise<T> {
  let made: { readonly of: T } | undefined;
  const done = trx.transaction(async (part) => {
    made = { of: await work(part) };
    throw new TriedOnly();
  });
  await done.catch((error: unknown) => {
    if (!(error instanceof TriedOnly)) throw error;
  });
  if (!made) throw new Error('What was tried has come to an end.');
  return made.of;
}

/**
 * Puts what was tried in force from a day on: a version of each card, and pricing logic. With `dryRun` it
 * says what would be made, and nothing is. 400: there is nothing to put in force. 404: there is no such
 * repricing. 409: it has not ended, its guard did not pass, or a version begins on that day.
 */
export async function promoteRepricing(
  scope: Scope,
  {
    repricingId: id,
    fromDate,
    force,
    dryRun = false,
  }: PromoteInput & { readonly dryRun?: boolean },
): Promise<Static<typeof Promoted>> {
  const { tenantId } = scope;
  return scope.db.transaction(async (trx) => {
    await Repricing.takeTurn(trx, tenantId);
    const repricing = await Repricing.query(trx).forTenant(tenantId).findById(id).forUpdate();
    if (!repricing) throw problem.notFound(`There is no repricing '${id}'.`);
    const changes = validate(RepricingChanges, parseJson(repricing.changes));
    if (changes.length === 0 || changes.some(({ kind }) => kind === 'usage')) {
      throw problem.validation(
        changes.length === 0
          ? 'Nothing was changed: there is nothing to put in force.'
          : 'A change of usage is no price: there is nothing to put in force.',
        { field: 'changes' },
      );
    }
    requirePromotable(repricing, force);
    const make = async (part: Knex.Transaction): Promise<PromotedVersion[]> => {
      const versions: PromotedVersion[] = [];
      for (const change of changes) {
        versions.push(await promoteChange(part, within(scope, part), change, fromDate));
      }
      return versions;
    };
    const isForced = repricing.isPassed !== true;
    const of = { repricingId: id, fromDate, forced: isForced, dryRun };
    if (of.dryRun) return { ...of, versions: await tryOnly(trx, make) };
    const versions = await make(trx);
    await repricing.$query(trx).forTenant(tenantId).patch({
      promotedAt: scope.now(),
      promotedFrom: fromDate,
      promotedBy: scope.actor,
      isForced,
    });
    return { ...of, versions };
  });
}
