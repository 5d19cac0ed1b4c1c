import type { Knex } from 'knex';
import type { EndedSignIn } from '../../messages/access/sign-in-provider.js';
import { sqlRows } from '../../models/db/sql-rows.js';

/**
 * Revokes what came of a sign-in that its provider says is over, and records it in the audit of each
 * tenant; how many grants these were. A session ends what was begun in it, and what nobody knows the
 * session of; a person without a session, all of his.
 */
export const endSignIns = (
  db: Knex,
  issuer: string,
  { sub, sid }: EndedSignIn,
  now: Date,
): Promise<number> =>
  db.transaction(async (trx) => {
    const ended = await sqlRows<object>(
      trx,
      `update oauth_grant set revoked_at = :now, revoked_reason = 'its provider ended the sign-in'
       where oidc_issuer = :issuer and revoked_at is null
         and (:sub::text is null or oidc_sub = :sub)
         and (:sid::text is null or oidc_sid = :sid or (oidc_sid is null and :sub::text is not null))
       returning id, tenant_id, subject, client_id`,
      { issuer, sub, sid, now },
    );
    await sqlRows(
      trx,
      `select record_security_event(ended.tenant_id, ended.subject, null, null, 'oauth_grant',
         ended.id, 'revoke', jsonb_build_object('clientId', ended.client_id, 'issuer', :issuer::text,
           'reason', 'its provider ended the sign-in'))
       from jsonb_to_recordset(:ended::jsonb)
         as ended (id text, tenant_id text, subject text, client_id text)`,
      { issuer, ended: JSON.stringify(ended) },
    );
    return ended.length;
  });
