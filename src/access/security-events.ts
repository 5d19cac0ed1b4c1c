import type { Knex } from 'knex';
import type { SecurityEvent } from '../kernel/security-event.js';

const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Adds an event to the audit of its tenant; in a transaction, together with the change. `db` is the
 * platform's handle or the tenant's own; the login of running processes can insert such entries,
 * but not change any.
 */
export async function recordSecurityEvent(db: Knex, event: SecurityEvent): Promise<void> {
  const { tenantId, actor, requestId = null, callerRequestId = null, details = null } = event;
  await db.raw('select record_security_event(?, ?, ?, ?, ?, ?, ?, ?)', [
    tenantId,
    actor,
    requestId,
    callerRequestId,
    snakeCase(event.entity),
    event.entityKey,
    event.action,
    details === null ? null : JSON.stringify(details),
  ]);
}
