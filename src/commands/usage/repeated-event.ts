import { canonicalJson } from '../../kernel/text/json.js';
import type { UsageEventRow } from '../../models/usage/usage-event.js';
import { readMessage, type ReadMessage } from '../../queries/usage/usage-message.js';

/** The first event of an external id as a batch sees it: stored before, or of this batch. */
export interface Original {
  row: UsageEventRow;
  /** Null: retention has removed it, so that nothing can be compared with it. */
  text: string | null;
  content: () => string;
  /** What it was sent with, where it was amended since. */
  readonly sent: string | null;
  readonly isStored: boolean;
}

/**
 * Whether a message that has the external id of an event is that event again (spec/rating.md R56): its
 * content is the same, now or as it was sent. Otherwise it conflicts with the event.
 */
export const isRepeatOf = (original: Original, text: string, message: ReadMessage): boolean =>
  original.text === null ||
  original.text === text ||
  original.content() === canonicalJson(message.content) ||
  isSentAgain(original, message);

/** Whether an event that was amended since comes again as it was sent. */
const isSentAgain = ({ sent }: Original, message: ReadMessage): boolean =>
  sent !== null && canonicalJson(readMessage(sent).content) === canonicalJson(message.content);
