/** Partitions of a tenant's usage topic; one account's events stay in one, in order. */
export const partitionCount = 8;

/** The partition of a key, which is the account reference: the same in every broker. */
export function partitionOf(key: string): number {
  // FNV-1a with a final mix: a fast hash is enough, since nobody gains from a full partition.
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) % partitionCount;
}
