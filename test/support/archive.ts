import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import {
  startUsageArchive,
  startUsageDrop,
  startUsageRestore,
  waitForUsageArchive,
  waitForUsageDrop,
  waitForUsageRestore,
} from '../../src/flows/ageing/usage-archive.js';
import type { ArchiveFiles } from '../../src/messages/ageing/usage-archive.js';
import type { UsageDropped } from '../../src/messages/ageing/usage-drop.js';
import { fillTenant } from './servers/fill.js';
import { openTestInstance, type TestInstance, type TestTenant } from './servers/instance.js';
import { asOwner } from './servers/rows.js';
import { asServiceLogin } from './servers/service-login.js';

/** The month in which `fillTenant` has usage. */
export const archivedMonth = '2026-10';
const secret = randomBytes(32);

interface Named {
  readonly id: string;
}

/** What Temporal's failure says at its end. */
export const reasonOf = (error: unknown): string => {
  const { cause, message } = error as { cause?: unknown; message: string };
  return cause === undefined || cause === null ? message : reasonOf(cause);
};

/** An instance with workers whose archives are in a folder, and what is done with them. */
export class ArchiveWorld {
  /** Steps that fail once after they were done, as if their worker had been killed then. */
  readonly killed = new Set<string>();
  /** What happens before a step, by its name; once. */
  readonly before = new Map<string, () => Promise<unknown>>();
  readonly instance: TestInstance;
  readonly folder: string;

  private constructor(instance: TestInstance, folder: string) {
    this.instance = instance;
    this.folder = folder;
  }

  static async open(): Promise<ArchiveWorld> {
    const folder = await mkdtemp(join(tmpdir(), 'durabill-archive-'));
    const opened: { world?: ArchiveWorld } = {};
    const instance = await openTestInstance({
      withWorkers: true,
      secret,
      // Months are dropped with the rights of the product, not with those of an owner.
      route: asServiceLogin({ name: 'durabill_test_archive', password: 'archive', secret }),
      archive: {
        url: pathToFileURL(folder).href,
        s3: { endpoint: undefined, region: undefined, credentials: undefined },
      },
      activityInterceptors: [
        () => ({
          inbound: {
            async execute(input, next): Promise<unknown> {
              const { activityType } = Context.current().info;
              const before = opened.world?.before.get(activityType);
              opened.world?.before.delete(activityType);
              await before?.();
              const result: unknown = await next(input);
              if (opened.world?.killed.delete(activityType) !== true) return result;
              throw ApplicationFailure.retryable('Its worker was killed.');
            },
          },
        }),
      ],
    });
    opened.world = new ArchiveWorld(instance, folder);
    return opened.world;
  }

  async close(): Promise<void> {
    await this.instance.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  get files(): ArchiveFiles {
    const { archive } = this.instance.platform;
    if (!archive) throw new Error('There is no archive.');
    return archive;
  }

  /** As the owner of the database. */
  sql<T>(text: string, values: unknown[] = []): Promise<T[]> {
    return asOwner(
      this.instance.databaseUrl,
      async (client) => (await client.query(text, values)).rows as T[],
    );
  }

  /** A tenant with so many events of October, each with a charge of 1.25; every hundredth is rejected. */
  async filled(events: number): Promise<TestTenant> {
    const tenant = await this.instance.tenant();
    await asOwner(this.instance.databaseUrl, async (client) => {
      await fillTenant(client, { tenantId: tenant.id, accounts: 5, events, services: 2 });
      // As rating leaves them: messages are in the log, which these have not.
      await client.query('update usage_event set message = null where tenant_id = $1', [tenant.id]);
      await client.query(
        `update usage_event set status = 'rejected', code = 'X', reason = 'it''s "so"'
         where tenant_id = $1 and "offset" % 100 = 99`,
        [tenant.id],
      );
    });
    return tenant;
  }

  /**
   * Has the usage of a tenant, which was just rated, as if it had been received days before, in the month
   * of the archive: what the trigger of rating keeps is left as it is.
   */
  async shiftToOctober({ id }: Named): Promise<void> {
    const shifted = (column: string) => `(lpad(to_hex(
        ('x' || substr(replace(${column}::text, '-', ''), 1, 12))::bit(48)::bigint - $2::bigint
      ), 12, '0') || substr(replace(${column}::text, '-', ''), 13))::uuid`;
    const ms = Date.now() - Date.parse('2026-10-20T12:00:00Z');
    await asOwner(this.instance.databaseUrl, async (client) => {
      await client.query('set session_replication_role = replica');
      for (const statement of [
        `update usage_event set id = ${shifted('id')}, original_id = ${shifted('original_id')},
           received_at = received_at - $2::bigint * interval '1 ms'`,
        `update rated_transaction set id = ${shifted('id')},
           usage_event_id = ${shifted('usage_event_id')}`,
        `update usage_identity set event_id = ${shifted('event_id')}`,
        `update usage_range set first_id = ${shifted('first_id')}, last_id = ${shifted('last_id')}`,
        `update usage_list set first_id = ${shifted('first_id')}, last_id = ${shifted('last_id')},
           ids = array(select ${shifted('each')} from unnest(ids) as each)`,
        `update usage_unlisted set ids = array(select ${shifted('each')} from unnest(ids) as each)`,
      ]) {
        await client.query(`${statement} where tenant_id = $1`, [id, ms]);
      }
    });
  }

  /** All usage of a tenant up to the end of the month is billed. */
  async billed({ id }: Named): Promise<void> {
    await this.sql(
      `insert into billed_usage (tenant_id, account_id, billed_until)
       select tenant_id, id, '2026-10-31' from account where tenant_id = $1
       on conflict (tenant_id, account_id) do update set billed_until = excluded.billed_until`,
      [id],
    );
  }

  place() {
    const { starter, waiter, taskQueue, signer } = this.instance.platform.temporal;
    return { client: starter, waiter, taskQueue, signer };
  }

  async archive({ id: tenantId }: Named): Promise<number> {
    await startUsageArchive(this.place(), { tenantId, month: archivedMonth });
    return waitForUsageArchive(this.place().waiter, { tenantId, month: archivedMonth });
  }

  drop(...tenants: readonly Named[]): Promise<UsageDropped> {
    return this.dropMonth(archivedMonth, ...tenants);
  }

  async dropMonth(month: string, ...tenants: readonly Named[]): Promise<UsageDropped> {
    const ids = tenants.map(({ id }) => id);
    const asked = { tenantId: ids[0] ?? '', tenants: ids, month };
    await startUsageDrop(this.place(), asked);
    return waitForUsageDrop(this.place().waiter, asked);
  }

  async restore({ id: tenantId }: Named): Promise<number> {
    await startUsageRestore(this.place(), { tenantId, month: archivedMonth });
    return waitForUsageRestore(this.place().waiter, { tenantId, month: archivedMonth });
  }

  /** Why something was refused; an empty text: it was not. */
  async refused(work: Promise<unknown>): Promise<string> {
    return work.then(() => '', reasonOf);
  }

  async filesIn({ id }: Named): Promise<string[]> {
    const entries = await readdir(join(this.folder, id), { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  }

  /** Every row of a tenant's events and charges, as text in the order of the ids. */
  async factsOf({ id }: Named): Promise<string[]> {
    const rows = await this.sql<{ row: string }>(
      `select 'event ' || t::text as row, id from usage_event as t where tenant_id = $1
       union all
       select 'charge ' || t::text, id from rated_transaction as t where tenant_id = $1
       order by 1`,
      [id],
    );
    return rows.map(({ row }) => row);
  }
}
