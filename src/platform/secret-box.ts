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

export function secretBox(key: Buffer): SecretBox {
  return {
    seal(secret) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url');
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes));
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      const text = decipher.update(bytes.subarray(nonceBytes + tagBytes));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    },
  };
}
