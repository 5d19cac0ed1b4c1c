import type { Knex } from 'knex';

/** What a client asked for and a user has to decide, in one browser (document 3, section 2). */
export interface PendingFlow {
  readonly id: string;
  /** Hash of the secret that the browser holds as a cookie. */
  readonly browserHash: Buffer;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly scopes: readonly string[];
  readonly resource: string;
  readonly state: string | null;
  readonly expiresAt: Date;
  readonly decidedAt: Date | null;
}

/** A flow with the name of its client. */
export type ShownFlow = PendingFlow & { readonly clientName: string | null };

/** Document 3, section 8. */
export const flowLifetimeSeconds = 15 * 60;

export async function insertFlow(db: Knex, flow: PendingFlow): Promise<void> {
  await db('oauthFlow').insert(flow);
}

/** The flow of an id that is a UUID. */
export const findPendingFlow = (db: Knex, id: string): Promise<ShownFlow | undefined> =>
  db('oauthFlow')
    .join('oauthClient', 'oauthClient.id', 'oauthFlow.clientId')
    .where('oauthFlow.id', id)
    .first('oauthFlow.*', 'oauthClient.name as clientName');

/** Marks a flow as decided; false when it was before, however close together both came. */
export async function decideFlow(trx: Knex, id: string, now: Date): Promise<boolean> {
  const count = await trx('oauthFlow')
    .where({ id })
    .whereNull('decidedAt')
    .update({ decidedAt: now });
  return count > 0;
}
