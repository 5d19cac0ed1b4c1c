import { canonicalJson } from '../../kernel/text/json.js';
import type { UsageEventRow } from '../../models/usage/usage-event.js';
import type { ReadMessage } from '../../queries/usage/usage-message.js';

/** The first event of an external id as a batch sees it: stored before, or of this batch. */
export interface Original {
  row: UsageEventRow;
  /** Null: retention has removed it, so that nothing can be compared with it. */
  text: string | null;
  content: () => string;
  /** What it was sent with, where it was amended since. */
  readonly sent: (() => string) | null;
  readonly isStored: boolean;
}

/**
 * A content as it is compared: made for the first repeat and kept for all others. It may have a mebibyte
 * where each of a thousand repeats is short.
 */
export function comparable(read: () => unknown): () => string {
  let text: string | undefined;
  return () => (text ??= canonicalJson(read()));
}

/**
 * Whether a message that has the external id of an event is that event again (spec/rating.md R56): its
 * content is the same, now or as it was sent. Otherwise it conflicts with the event.
 */
export function isRepeatOf(original: Original, text: string, message: ReadMessage): boolean {
  if (original.text === null || original.text === text) return true;
  const given = canonicalJson(message.content);
  return original.content() === given || original.sent?.() === given;
}
