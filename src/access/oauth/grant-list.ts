import type { Knex } from 'knex';
import type { Grant } from './grants.js';

/** A grant as its tenant sees it, with what its client calls itself. */
export type ListedGrant = Grant & {
  readonly clientName: string | null;
  readonly accessKeyId: string | null;
  readonly revokedReason: string | null;
};

/** A page of the grants of a tenant, the latest first, and how many there are. */
export async function listGrants(
  db: Knex,
  tenantId: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly items: readonly ListedGrant[]; readonly total: number }> {
  const of = () => db('oauthGrant').where('oauthGrant.tenantId', tenantId);
  const [items, [counted]] = await Promise.all([
    of()
      .join('oauthClient', 'oauthClient.id', 'oauthGrant.clientId')
      .select<ListedGrant[]>('oauthGrant.*', 'oauthClient.name as clientName')
      .orderBy([
        { column: 'oauthGrant.createdAt', order: 'desc' },
        { column: 'oauthGrant.id', order: 'desc' },
      ])
      .limit(limit)
      .offset(offset),
    of().count<{ count: string }[]>({ count: '*' }),
  ]);
  return { items, total: Number(counted?.count ?? 0) };
}

/** The tenant of a grant; undefined when there is none of that id. */
export async function findGrantTenant(db: Knex, id: string): Promise<string | undefined> {
  const found = await db<Grant>('oauthGrant').where({ id }).first('tenantId');
  return found?.tenantId;
}
