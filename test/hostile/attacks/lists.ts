import { accountIdOf } from '../../support/servers/fill.js';
import type { Attack } from '../attack.js';
import { crowd, type Attacker } from '../attacker.js';
import { numbers, publish } from './workflows.js';

/** Lists of what is long, of which they show little (docs/decisions/0544). */

/** Runs SQL that no trigger hears of: an audit of all that is only there to be listed would take minutes. */
const fill = (attacker: Attacker, sql: string): Promise<object[]> =>
  attacker.query(`begin; set local session_replication_role = replica; ${sql}; commit`);

const tenant = 'attacker';

/** The id of a what-if that has ended, with what it shows. */
async function makeRepricing(attacker: Attacker): Promise<string> {
  const id = crypto.randomUUID();
  await fill(
    attacker,
    `insert into repricing (tenant_id, id, name, from_at, to_at, changes, created_at, ended_at, events,
       accounts, rejected, before, after)
     values ('${tenant}', '${id}', 'Listed', '2026-01-01', '2026-02-01', '[]', now(), now(), 1, 1,
       '[]', '[]', '[]')`,
  );
  return id;
}

export const listAttacks: readonly Attack[] = [
  {
    name: 'lists of workflows of 120 KB each',
    operations: ['listWorkflows'],
    isShort: true,
    // They are published first.
    seconds: 25,
    async run(attacker) {
      const list = numbers(20_000).map((number) => number % 1_000);
      for (let count = 0; count < 89 && !attacker.isOver(); count += 1) {
        await publish(attacker, [{ kept: { set: { list } } }]);
      }
      await attacker.flood((index) => ({
        path: `/v1/workflows?limit=${index % 2 === 0 ? 1000 : 200}`,
      }));
    },
  },
  {
    name: 'lists of what-ifs that asked much, and of corrections of thousands of accounts',
    operations: ['listRepricings', 'listCorrections'],
    seconds: 12,
    async run(attacker) {
      await fill(
        attacker,
        `insert into repricing (tenant_id, id, name, from_at, to_at, changes, account_ids, created_at)
         select '${tenant}', gen_random_uuid(), 'Long', '2026-01-01', '2026-02-01',
           '[' || repeat(' ', 500000) || ']', array(select gen_random_uuid() from generate_series(1, 10000)),
           now()
         from generate_series(1, 300)`,
      );
      await fill(
        attacker,
        `insert into usage_correction (tenant_id, id, kind, reason, execution_id, scope, events, changed,
           rejected, before, after, accounts, created_at)
         select '${tenant}', gen_random_uuid(), 'rerate', 'Long', gen_random_uuid(), '{}', 1, 1, '[]', '[]',
           '[]', (select jsonb_agg(jsonb_build_object('accountId', gen_random_uuid(), 'currency', 'USD',
             'before', '1', 'after', '2')) from generate_series(1, 5000)), now()
         from generate_series(1, 300)`,
      );
      await attacker.flood((index) => ({
        path: `/v1/${index % 2 === 0 ? 'repricings' : 'corrections'}?limit=1000`,
      }));
    },
  },
  {
    name: 'accounts of a what-if with 20,000 periods',
    operations: ['listRepricedAccounts'],
    async run(attacker) {
      const id = await makeRepricing(attacker);
      const accountIds = numbers(1_000).map(accountIdOf);
      await fill(
        attacker,
        `insert into repricing_account (tenant_id, repricing_id, account_id, currency, before, after, charges)
         select '${tenant}', '${id}', unnest('{${accountIds.join()}}'::uuid[]), 'USD', 1, 2, 1;
         insert into repricing_period (tenant_id, repricing_id, account_id, adjustment_id, period_start,
           is_done, is_tried, kind, value, currency, period_end, spent_before, spent_after, before, after)
         select '${tenant}', '${id}', account_id, gen_random_uuid(), date '2026-01-01' + day, true, true,
           'minimum', 1, 'USD', date '2026-01-02' + day, 0, 0, 0, 1
         from unnest('{${accountIds.join()}}'::uuid[]) as account_id, generate_series(1, 20) as day`,
      );
      const path = `/v1/repricings/${id}/accounts?limit=1000`;
      await attacker.flood(() => ({ path }), crowd);
    },
  },
];
