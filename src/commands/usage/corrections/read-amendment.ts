import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { parseJson, stringifyJson } from '../../../kernel/text/json.js';
import type { AmendEventInput } from '../../../messages/usage-workflow.js';
import { UsageEvent } from '../../../models/usage/usage-event.js';
import { readContent } from '../../../queries/usage/usage-message.js';
import { prepareAnew, unrateable } from './compute-correction.js';
import { requireCorrectable, requireEventHere, type EventCorrection } from './correct-event.js';

/**
 * The content that an event gets, ready to be rated. 400: it has another external id, or cannot be
 * rated, with the reason code. 404: there is no such event. 409: it is canceled or a duplicate, or
 * contradicts another event.
 */
export async function readAmendment(
  { db, tenantId }: Scope,
  { eventId, message }: AmendEventInput,
): Promise<NonNullable<EventCorrection['amended']>> {
  await requireEventHere(db.read, tenantId, eventId);
  const event = await UsageEvent.query(db.read).forTenant(tenantId).findById(eventId);
  if (!event) throw problem.notFound(`There is no usage event '${eventId}'.`);
  requireCorrectable(event);
  if (event.originalId !== null) {
    throw problem.conflict(
      `The usage event '${eventId}' contradicts another with its external id: amend that one, ${event.originalId}.`,
      { field: 'status' },
    );
  }
  const given = parseJson(message) as Readonly<Record<string, unknown>>;
  const known = event.externalTransactionId;
  const externalId = given['externalTransactionId'] ?? known;
  if (known !== null && externalId !== known) {
    throw problem.validation(
      `'message.externalTransactionId' must be '${known}', as the event has it, or left out`,
      { field: 'message.externalTransactionId' },
    );
  }
  const content = externalId === null ? given : { ...given, externalTransactionId: externalId };
  const text = stringifyJson(content);
  const { read } = readContent(parseJson(text));
  if (!read.ok) throw unrateable(read.code, read.message);
  return { text, prepared: await prepareAnew(db.read, tenantId, read.event) };
}
