import type { Knex } from 'knex';
import type { SecurityEvent } from '../../kernel/security-event.js';
import { recordSecurityEvent } from '../../access/security-events.js';

/** The actor in the audit for commands of an operator. */
export const commandLine = 'command-line';

/** Records a command of an operator in the audit. */
export const recordCommand = (
  db: Knex,
  event: Pick<SecurityEvent, 'tenantId' | 'entity' | 'entityKey' | 'action' | 'details'>,
): Promise<void> => recordSecurityEvent(db, { ...event, actor: commandLine });
