import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Seals secrets for storage (AES-256-GCM); the key never reaches the database. */
export interface SecretBox {
  /** Text that `open` alone can read: base64url of nonce, tag and ciphertext. */
  seal(secret: string): string;
  /** The sealed text; throws when it was sealed with another key or changed since. */
  open(sealed: string): string;
}

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Nonce, tag and ciphertext (AES-256-GCM). Nonces are random: one key may seal 2^32 times (NIST SP
 * 800-38D, section 8.3). `context` is not kept; who opens must give the same.
 */
export function sealBytes(key: Buffer, plain: Uint8Array, context = ''): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(context));
  const bytes = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), bytes]);
}

/** What was sealed; throws when it was with another key or context, or has changed since. */
export function openBytes(key: Buffer, sealed: Uint8Array, context = ''): Buffer {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const nonce = bytes.subarray(0, nonceBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  const plain = decipher.update(bytes.subarray(nonceBytes + tagBytes));
  return Buffer.concat([plain, decipher.final()]);
}

export function secretBox(key: Buffer): SecretBox {
  return {
    seal: (secret) => sealBytes(key, Buffer.from(secret, 'utf8')).toString('base64url'),
    open: (sealed) => openBytes(key, Buffer.from(sealed, 'base64url')).toString('utf8'),
  };
}
