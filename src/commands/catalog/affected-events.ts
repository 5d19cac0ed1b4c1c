import type { Knex } from 'knex';
import { tookTooLong } from '../../kernel/sql-state.js';
import type { CatalogOwner } from '../../models/catalog/attribute.js';
import { sqlRows } from '../../models/db/sql-rows.js';

/** The days on which a version of a card is in force. */
export interface DaysInForce {
  readonly currency: string;
  /** Null: all days before those of the next version. */
  readonly first: string | null;
  /** The first day of the version that follows; null: there is none. */
  readonly end: string | null;
}

/**
 * While it is counted. A version whose usage cannot be counted in 10 s is made without the figure. Lines
 * and what was used are joined by hashes: statistics know neither how many there are, and each with each
 * took minutes.
 */
const settings = { statement_timeout: '10000', enable_nestloop: 'off', enable_mergejoin: 'off' };

/** SQL: whose usage it may price: of a service, and where it is the card of a line, of its account. */
const pricedUsage = (owner: CatalogOwner): string =>
  'serviceId' in owner
    ? 'select :id::uuid as service_id, null::uuid as account_id'
    : `select line.service_id, contract.master_account_id as account_id
       from contract_service as line join contract
         on contract.tenant_id = line.tenant_id and contract.id = line.contract_id
       where line.tenant_id = :tenantId and line.id = :id`;

/** SQL: whether these are an account and a service of it. */
const isPriced = (owner: CatalogOwner, account: string, service: string): string =>
  `${service} = (select service_id from priced_usage)${
    'serviceId' in owner ? '' : ` and ${account} = (select account_id from priced_usage)`
  }`;

/** SQL: lines that run now, and the currency of what is used under them. */
const presentLines = (owner: CatalogOwner): string => `
  select line.id, contract.master_account_id as account_id, contract.currency,
    line.service_instance_id as instance_id,
    case when line.start_date is null then contract.start_date else line.start_date end as start_date,
    least(line.end_date, contract.end_date, line.termination_date) as last_date,
    exists (
      select from rate_card as card
      where card.tenant_id = :tenantId and card.contract_service_id = line.id
        and card.currency = :currency and card.deleted_at is null
    ) as has_card
  from contract_service as line join contract
    on contract.tenant_id = line.tenant_id and contract.id = line.contract_id
  where line.tenant_id = :tenantId and line.deleted_at is null and contract.deleted_at is null
    and ${isPriced(owner, 'contract.master_account_id', 'line.service_id')}`;

/**
 * SQL: rated events on the days, by what says which line rates them now. A charge that was taken back
 * has a reversal, with which it counts for nothing.
 */
const ratedEvents = (owner: CatalogOwner): string => `
  select account_id, day, instance_id, count(*) as events from (
    select charge.master_account_id as account_id, charge.transaction_date as day,
      charge.service_instance_id as instance_id
    from rated_transaction as charge
    where charge.tenant_id = :tenantId
      and charge.transaction_date >= coalesce(:first::date, '-infinity')
      and charge.transaction_date < coalesce(:end::date, 'infinity')
      and ${isPriced(owner, 'charge.master_account_id', 'charge.service_id')}
    group by charge.usage_event_id, 1, 2, 3
    having sum(case when charge.reverses is null then 1 else -1 end) > 0
  ) as event
  group by 1, 2, 3`;

/** SQL: whether a line of the account that used something runs on that day. */
const runs = (line: string): string => `
  ${line}.account_id = used.account_id
  and (${line}.start_date is null or ${line}.start_date <= used.day)
  and (${line}.last_date is null or ${line}.last_date >= used.day)`;

/**
 * The line is chosen as rating chooses it (spec/rating.md R6 to R17). A charge has the instance of its
 * event or else of its line: where no line has it any more, any of the service may rate the event
 * (docs/decisions/0370).
 */
const countSql = (owner: CatalogOwner): string => `
  with priced_usage as materialized (${pricedUsage(owner)}),
  line as materialized (${presentLines(owner)}),
  used as materialized (${ratedEvents(owner)}),
  candidate as (
    select used.*, line.id as line_id, line.start_date, line.currency, line.has_card
    from used join line on line.instance_id = used.instance_id and ${runs('line')}
    union all
    select used.*, line.id as line_id, line.start_date, line.currency, line.has_card
    from used left join line on ${runs('line')}
    where not exists (
      select from line as own where own.instance_id = used.instance_id and ${runs('own')})
  ),
  priced as (
    select distinct on (account_id, day, instance_id) * from candidate
    order by account_id, day, instance_id, start_date desc nulls last, line_id
  )
  select coalesce(sum(priced.events), 0)::float8 as events
  from priced
  left join account on account.tenant_id = :tenantId and account.id = priced.account_id
  left join service on service.tenant_id = :tenantId and service.id = (select service_id from priced_usage)
  where coalesce(priced.currency, account.default_currency, service.currency) = :currency
    and ${'serviceId' in owner ? 'priced.has_card is not true' : 'priced.line_id = :id'}`;

/** Sets these for the transaction; what they were before. */
async function set(
  trx: Knex.Transaction,
  values: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const rows = await sqlRows<{ name: string; before: string }>(
    trx,
    `select name, current_setting(name) as before, set_config(name, value, true)
     from unnest(?::text[], ?::text[]) as setting (name, value)`,
    [Object.keys(values), Object.values(values)],
  );
  return Object.fromEntries(rows.map(({ name, before }) => [name, before]));
}

/**
 * How many rated events a version would price if usage was rated again, by the lines and currencies that
 * hold now: those on its days, of lines with an exception card for the card of that line, all others for
 * the card of the service. Null where they are too many to be counted in time.
 */
export async function countAffectedEvents(
  trx: Knex.Transaction,
  tenantId: string,
  owner: CatalogOwner,
  { currency, first, end }: DaysInForce,
): Promise<number | null> {
  const id = 'serviceId' in owner ? owner.serviceId : owner.contractServiceId;
  try {
    return await trx.transaction(async (nested) => {
      const before = await set(nested, settings);
      const bindings = { tenantId, id, currency, first, end };
      const [counted] = await sqlRows<{ events: number }>(nested, countSql(owner), bindings);
      await set(nested, before);
      return counted?.events ?? 0;
    });
  } catch (error) {
    if (tookTooLong(error)) return null;
    throw error;
  }
}
