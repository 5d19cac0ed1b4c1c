import type { Knex } from 'knex';

/**
 * A tenant's way to the database. Every connection that it hands out carries the tenant's id for
 * row-level security; it can reach no other tenant's rows.
 */
export interface TenantDatabase {
  readonly tenantId: string;
  /** For reads outside a transaction. */
  readonly read: Knex;
  /** Runs the function in one transaction; the actor and the request are recorded by the audit. */
  transaction<T>(work: (trx: Knex.Transaction) => Promise<T>): Promise<T>;
  /** Cancels running statements after the client has disconnected. */
  abandon?(): void;
  /** Whether nobody waits for the work any more: what takes long looks, and ends. */
  readonly isAbandoned?: boolean;
}

/** By which it is found later whether somebody still may do what they did: no secret. */
export interface CredentialRef {
  readonly kind: 'accessKey' | 'token';
  /** Id of the access key, or `jti` of the token. */
  readonly id: string;
  /** The id of the key that signed a token. */
  readonly kid: string | null;
  /** What a user allowed an OAuth client; null: it is the user's own credential. */
  readonly grantId: string | null;
}

/** The tenant, actor and request that a command or query works for. */
export interface Scope {
  readonly tenantId: string;
  /** The organization (`morgId`) of the caller's token, if it has one. */
  readonly orgId: string | null;
  /** Who is written into the audit: the token's subject or the access key's id. */
  readonly actor: string;
  readonly roles: readonly string[];
  /** Our request id, independent of the caller's: the audit keeps it. */
  readonly requestId: string;
  /** The id that the caller chose for its request, if it chose one: a hint, no evidence. */
  readonly callerRequestId?: string | undefined;
  readonly db: TenantDatabase;
  /**
   * The platform's own tables (grants, revoked tokens), where they are in another server than the
   * tenant's rows may be; undefined: `db` has them.
   */
  readonly home?: TenantDatabase | undefined;
  /**
   * The present instant of the tenant, which decides what is due and in force: the real one, or of a
   * sandbox that at which its time stands (docs/decisions/0381).
   */
  readonly now: () => Date;
  /** What the caller of a request signed in with. */
  readonly credential?: CredentialRef | undefined;
  /** When that ends by itself; null: it does not. */
  readonly credentialEndsAt?: Date | null | undefined;
  /** Of an embed: the account of which alone it reads (docs/decisions/0384, 0467). */
  readonly embeddedAccountId?: string | undefined;
  /** How deep executions of tenants' workflows call each other to come here; undefined: not at all. */
  readonly depth?: number;
  /** Who started the first of these executions. */
  readonly starter?: string;
  /** The real present instant, for what ends in real time: credentials, secrets, attempts. */
  readonly realNow: () => Date;
}

/** The scope inside a transaction of its own: commands called with it join that transaction. */
export const within = (scope: Scope, trx: Knex.Transaction): Scope => ({
  ...scope,
  db: { tenantId: scope.tenantId, read: trx, transaction: (work) => work(trx) },
});
