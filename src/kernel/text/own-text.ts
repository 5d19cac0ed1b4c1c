/**
 * A text that is not part of another: what is cut out of a large text keeps all of it in memory, as long
 * as it is held itself.
 */
export const ownText = (text: string): string => Buffer.from(text).toString();
