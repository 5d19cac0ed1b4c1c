import { createHash, randomBytes } from 'node:crypto';

/** A secret of 32 random bytes, as base64url: 43 characters. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

/** The stored hash of a secret. Random bytes need no slow hash: they cannot be guessed. */
export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
