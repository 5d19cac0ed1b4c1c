/**
 * A number of the API as the text that was sent: shown and compared without losing a digit. It has no
 * brand, which the types of openapi-fetch would take apart.
 */
export type Digits = string;

/** A whole number of our own, such as a page, as the API's types have it. */
export const digits = (count: number): Digits => String(count);
