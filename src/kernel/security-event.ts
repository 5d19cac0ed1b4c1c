/** What security events are about; none of them is a record of billing. */
export const securityEntities = [
  'accessKey',
  'accessToken',
  'audit',
  'oauthClient',
  'oauthGrant',
  'schedule',
  'seller',
  'signIn',
  'signingKey',
  'tenant',
] as const;

export type SecurityEntity = (typeof securityEntities)[number];

/** What happened, besides that something was made, changed or removed. */
export const securityActions = [
  'issue',
  'exchange',
  'refresh',
  'replay',
  'approve',
  'deny',
  'refuse',
  'revoke',
  'rotate',
  'suspend',
  'resume',
  'hold',
  'release',
  'erase',
] as const;

export type SecurityAction = (typeof securityActions)[number] | 'create' | 'update' | 'delete';

/** An event that the audit keeps although no billing record changed. */
export interface SecurityEvent {
  /** Null: of no tenant, or of one that nobody knows; it stands in the platform's own audit then. */
  readonly tenantId: string | null;
  /** Subject of the token, access key (`key:<id>`), or `command-line`; null: nobody was known. */
  readonly actor: string | null;
  readonly entity: SecurityEntity;
  /** What the entity is known by: id of a key, of a grant, of a client; null where there is none. */
  readonly entityKey: string | null;
  readonly action: SecurityAction;
  /** Ours, by which the log knows the request; undefined outside requests. */
  readonly requestId?: string | undefined;
  /** The one that the caller chose, if it chose one. */
  readonly callerRequestId?: string | undefined;
  /** What else is to be known; never a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
}
