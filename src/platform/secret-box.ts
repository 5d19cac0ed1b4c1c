import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Seals secrets for storage (AES-256-GCM); the key never reaches the database. */
export interface SecretBox {
  /** Text that `open` alone can read: base64url of nonce, tag and ciphertext. */
  seal(secret: string): string;
  /** The sealed text; throws when it was sealed with a key that is not known, or changed since. */
  open(sealed: string): string;
  /** The same sealed with the key that seals now; undefined: it is already. Throws as `open`. */
  sealAgain(sealed: string): string | undefined;
}

/** The keys of SECRET_KEY, or of the data folder: the first one seals, all of them open. */
export interface SecretKeys {
  readonly secret: Buffer;
  /** Keys that sealed before: what they sealed is still opened. */
  readonly previousSecrets: readonly Buffer[];
}

export function readSecretKeys(text: string): SecretKeys {
  const [secret = Buffer.alloc(0), ...previousSecrets] = text
    .split(',')
    .map((key) => Buffer.from(key.trim(), 'base64'));
  return { secret, previousSecrets };
}

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Nonce, tag and ciphertext (AES-256-GCM). Nonces are random: one key may encrypt 2^32 times (NIST
 * SP 800-38D, section 8.3). `context` is the additional authenticated data: it is not stored, and
 * opening needs the same.
 */
export function sealBytes(key: Buffer, plain: Uint8Array, context = ''): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(context));
  const bytes = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), bytes]);
}

/** The plain bytes; throws if the key or context differs, or the bytes were changed. */
export function openBytes(key: Buffer, sealed: Uint8Array, context = ''): Buffer {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const nonce = bytes.subarray(0, nonceBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  const plain = decipher.update(bytes.subarray(nonceBytes + tagBytes));
  return Buffer.concat([plain, decipher.final()]);
}

/** Sealed text does not name its key: each key is tried, and only the right one fits the tag. */
export function secretBox(key: Buffer, previous: readonly Buffer[] = []): SecretBox {
  const seal = (secret: string): string =>
    sealBytes(key, Buffer.from(secret, 'utf8')).toString('base64url');
  const openWith = (sealed: string) => {
    const bytes = Buffer.from(sealed, 'base64url');
    for (const candidate of [key, ...previous]) {
      try {
        return { text: openBytes(candidate, bytes).toString('utf8'), isCurrent: candidate === key };
      } catch {
        // Sealed with another key.
      }
    }
    throw new Error(
      'A secret in the database was sealed with a key that SECRET_KEY does not have.',
    );
  };
  return {
    seal,
    open: (sealed) => openWith(sealed).text,
    sealAgain(sealed) {
      const { text, isCurrent } = openWith(sealed);
      return isCurrent ? undefined : seal(text);
    },
  };
}
