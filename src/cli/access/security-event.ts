import type { Knex } from 'knex';
import type { SecurityEvent } from '../../kernel/security-event.js';
import { recordSecurityEvent } from '../../access/security-events.js';

/** Who the audit names for what an operator does. */
export const commandLine = 'command-line';

/** Writes into the audit what an operator did. */
export const recordCommand = (
  db: Knex,
  event: Pick<SecurityEvent, 'tenantId' | 'entity' | 'entityKey' | 'action' | 'details'>,
): Promise<void> => recordSecurityEvent(db, { ...event, actor: commandLine });
