import type { Knex } from 'knex';
import { sqlRows } from '../../../../models/db/sql-rows.js';
import { Account } from '../../../../models/accounts/account.js';
import { StoredRatingPlan } from '../../../../models/usage/plans/rating-plan.js';
import { UsageDay } from '../../../../models/usage/usage-day.js';
import { eventTimeSql } from '../../../../models/usage/usage-fact.js';
import {
  choosePlan,
  isCompiled,
  prepareFromPlan,
  type Prepared,
  type UsageEvent,
} from '../../../../rating/index.js';
import { readMessage } from '../../usage-message.js';
import { loadRatingContexts } from '../../rating-context.js';
import { daysTouched } from '../../finding/usage-event-filter.js';
import { inOrder, listMembers, type MeterOwner, type PlacedEvent } from '../meter-members.js';
import { RecordedReader, type RecordedEvent, type RecordedFacts } from '../recorded-event.js';
import type { PrepareText } from './quick-page.js';
import { elsewhere, type Fate, type RerateRequest } from './rerate-request.js';

/** What happened in a range of time, `[from, to)`, of the given account, contract and service. */
export interface RerateRange {
  readonly from: string;
  readonly to: string;
  readonly accountId: string | null;
  readonly contractId: string | null;
  readonly serviceId: string | null;
}

/**
 * The accounts and services with rated usage in a range, in a fixed order. Of a contract: with usage that
 * was rated under it, or that its lines may price now.
 */
export function findOwners(db: Knex, tenantId: string, range: RerateRange): Promise<MeterOwner[]> {
  const { from, last } = daysTouched(range);
  const { accountId, contractId, serviceId } = range;
  return sqlRows<MeterOwner>(
    db,
    `select distinct master_account_id as "accountId", service_id as "serviceId"
     from rated_transaction
     where tenant_id = :tenantId
       and transaction_date >= :first::date and transaction_date <= :last::date
       and (:accountId::uuid is null or master_account_id = :accountId::uuid)
       and (:contractId::uuid is null or contract_id = :contractId::uuid
         or (master_account_id, service_id) in (
           select contract.master_account_id, line.service_id
           from contract join contract_service as line
             on line.tenant_id = contract.tenant_id and line.contract_id = contract.id
           where contract.tenant_id = :tenantId and contract.id = :contractId::uuid
             and contract.deleted_at is null and line.deleted_at is null
         ))
       and (:serviceId::uuid is null or service_id = :serviceId::uuid)
     order by 1, 2`,
    { tenantId, first: from ?? null, last: last ?? null, accountId, contractId, serviceId },
  );
}

/** The rated events of an account and service in a range, in the order of the log. 409: too many. */
async function findTargets(
  db: Knex,
  tenantId: string,
  { accountId, serviceId }: MeterOwner,
  { from, to }: RerateRange,
): Promise<readonly PlacedEvent[]> {
  const ids = await UsageDay.idRange(db, tenantId, ['rated'], daysTouched({ from, to }));
  if (!ids) return [];
  const listed = await listMembers(db, tenantId, accountId, ids);
  const sql = `service_id = :serviceId::uuid and status = 'rated'
    and ${eventTimeSql} >= :from::timestamptz and ${eventTimeSql} < :to::timestamptz`;
  return inOrder(db, tenantId, { sql, bindings: { serviceId, from, to } }, listed);
}

type Planned = ReturnType<typeof choosePlan>;

const gone: Fate = {
  kind: 'kept',
  code: 'MESSAGE_GONE',
  message: 'The message of the event was removed.',
};

const preparedOf = (fate: Fate): Prepared | null => (fate.kind === 'anew' ? fate.prepared : null);

/** What becomes of recorded events with what is in force now. */
class Present {
  readonly #db: Knex;
  readonly #tenantId: string;
  readonly #owner: MeterOwner;
  readonly #contractId: string | null;
  readonly #reader: RecordedReader;
  #accountRef: string | undefined;

  constructor(db: Knex, tenantId: string, owner: MeterOwner, { contractId }: RerateRange) {
    this.#db = db;
    this.#tenantId = tenantId;
    this.#owner = owner;
    this.#contractId = contractId;
    this.#reader = new RecordedReader(db, tenantId);
  }

  async fatesOf(events: readonly RecordedEvent[]): Promise<ReadonlyMap<string, Fate>> {
    const fates = new Map<string, Fate>();
    for (let left = events; left.length > 0;) {
      const { facts, next } = await this.#reader.read(left);
      const some = next ? left.slice(0, left.indexOf(next)) : left;
      left = left.slice(some.length);
      const read = [...facts.values()].flatMap(({ event }) => (event ? [event] : []));
      const contextOf = await loadRatingContexts(this.#db, this.#tenantId, read);
      for (const event of some) {
        const fate = await this.#fateOf(event, facts.get(event.id), contextOf);
        if (fate) fates.set(event.id, fate);
      }
    }
    return fates;
  }

  /**
   * Loads what is in force for the usage of the owner; the function prices messages of it, and leaves
   * those of others.
   */
  async openPrepare(): Promise<PrepareText> {
    const { accountId, serviceId } = this.#owner;
    this.#accountRef ??= await this.#findAccountRef(accountId);
    const own = { accountRef: this.#accountRef, serviceId };
    const contextOf = await loadRatingContexts(this.#db, this.#tenantId, [own]);
    return (text) => {
      const { read } = readMessage(text);
      if (!read.ok) return null;
      const { event } = read;
      if (event.accountRef !== own.accountRef || event.serviceId !== serviceId) return null;
      const context = contextOf(event);
      const planned = context && choosePlan(event, context);
      if (!planned?.ok) return null;
      if (isCompiled(planned.plan)) return preparedOf(this.#fateWith(event, planned));
      return StoredRatingPlan.prepare(planned.plan).then(() =>
        preparedOf(this.#fateWith(event, planned)),
      );
    };
  }

  /** How messages name the account. */
  async #findAccountRef(id: string): Promise<string> {
    const account = await Account.query(this.#db)
      .forTenant(this.#tenantId)
      .findById(id)
      .select('externalId');
    return account?.externalId ?? '';
  }

  async #fateOf(
    recorded: RecordedEvent,
    facts: RecordedFacts | undefined,
    contextOf: Awaited<ReturnType<typeof loadRatingContexts>>,
  ): Promise<Fate | undefined> {
    const was = recorded.charges[0]?.contractId ?? null;
    const isMeant = this.#contractId === null || was === this.#contractId;
    if (!facts?.event || !facts.isFromMessage) return isMeant ? gone : undefined;
    const planned = await this.#plan(facts.event, contextOf);
    const is = planned.ok ? (planned.owner.line?.contractId ?? null) : null;
    if (!isMeant && is !== this.#contractId) return undefined;
    return this.#fateWith(facts.event, planned);
  }

  #fateWith(event: UsageEvent, planned: Planned): Fate {
    if (!planned.ok) return { kind: 'kept', code: planned.code, message: planned.message };
    if (planned.owner.accountId !== this.#owner.accountId) return elsewhere;
    const prepared = prepareFromPlan(planned.plan, event, planned.owner);
    return prepared.ok
      ? { kind: 'anew', prepared }
      : { kind: 'kept', code: prepared.code, message: prepared.message };
  }

  async #plan(
    event: UsageEvent,
    contextOf: Awaited<ReturnType<typeof loadRatingContexts>>,
  ): Promise<Planned> {
    const context =
      contextOf(event) ?? (await loadRatingContexts(this.#db, this.#tenantId, [event]))(event);
    if (!context) throw new Error('The facts of one event are always loaded.');
    const planned = choosePlan(event, context);
    if (planned.ok && !isCompiled(planned.plan)) await StoredRatingPlan.prepare(planned.plan);
    return planned;
  }
}

/** What is to be rated again of an account and service in a range; null: nothing. */
export async function requestOfRange(
  db: Knex,
  tenantId: string,
  owner: MeterOwner,
  range: RerateRange,
): Promise<RerateRequest | null> {
  const targets = await findTargets(db, tenantId, owner, range);
  if (targets.length === 0) return null;
  const present = new Present(db, tenantId, owner, range);
  return {
    owner,
    targets,
    fatesOf: (events) => present.fatesOf(events),
    isForced: false,
    // Whether an event is of a contract is said by its charges.
    ...(range.contractId === null ? { openPrepare: () => present.openPrepare() } : {}),
  };
}
