/** What a tenant may have removed after a time (docs/decisions/0350). */
export const retentionKinds = [
  'messages',
  'webhooks',
  'executions',
  'idempotencyKeys',
  'audit',
] as const;

export type RetentionKind = (typeof retentionKinds)[number];

/** Days of retention; null: for ever. */
export type RetentionDays = Readonly<Record<RetentionKind, number | null>>;

/** Where neither the tenant nor the installation has set anything. */
export const retentionByDefault: RetentionDays = {
  messages: null,
  webhooks: 30,
  executions: null,
  idempotencyKeys: null,
  audit: null,
};

/**
 * The fewest days that may be set: deliveries are tried again for three days, a flow lives for one,
 * and whoever repeats a request does so within the same time.
 */
export const retentionDaysMin: Readonly<Record<RetentionKind, number>> = {
  messages: 1,
  webhooks: 4,
  executions: 2,
  idempotencyKeys: 2,
  audit: 1,
};

export const retentionDaysMax = 36_500;

/** The tenant id under which the installation's defaults are kept; no tenant can be called that. */
export const everyTenant = '*';

const dayMs = 86_400_000;

/**
 * What is older than this is removed: the begin of a UTC day, so that what is kept for 30 days has at
 * least 30. At 2026-12-31T15:00Z and 30 days: 2026-12-01T00:00Z.
 */
export const retentionHorizon = (now: Date, days: number): Date =>
  new Date(Math.floor(now.getTime() / dayMs) * dayMs - days * dayMs);
