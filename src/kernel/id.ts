import { v5, v7 } from 'uuid';

/** A UUID whose values are the same on every installation: picklist values, flows, currencies. */
const durabillNamespace = 'b6f5c3a8-3c55-5d0e-9a55-6f3a7f0d2b11';

/** New ids rise with time, so that rows written together lie together in an index. */
export function newId(): string {
  return v7();
}

/** The same UUID for the same name, on every installation. */
export function stableId(name: string): string {
  return v5(name, durabillNamespace);
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}
