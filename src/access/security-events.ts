import type { Knex } from 'knex';
import type { SecurityEvent } from '../kernel/security-event.js';

const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Writes an event into the audit of its tenant. With a transaction, event and change are committed
 * together or not at all. `db` is the platform's handle or the tenant's own; the login of the
 * running processes can add such entries and change none.
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
