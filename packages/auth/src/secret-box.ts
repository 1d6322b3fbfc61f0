import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';

/** Return type of `createSecretBox`. */
export type SecretBox = ReturnType<typeof createSecretBox>;

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

const parseKey = (text: string): Buffer => {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  const key = /^[\w+/-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined;
  if (key?.length !== keyBytes) throw new Error('SECRETS_KEY must be 32 bytes in hex or base64.');
  return key;
};

/**
 * Encrypts small values that must be stored and read again, such as credentials of other services: AES-256-GCM (NIST SP
 * 800-38D) with a random nonce for each value.
 *
 * @param keys SECRETS_KEY: 32 bytes in hex or base64, optionally followed by older keys, comma separated
 * @throws when there is no key or one has another length; the message does not contain it
 */
export const createSecretBox = (keys: string) => {
  const ring = new Map(
    keys.split(',').map((text) => {
      const key = parseKey(text.trim());
      return [hash('sha256', key).slice(0, 8), key] as const;
    }),
  );
  const [current] = ring;
  if (current === undefined) throw new Error('SECRETS_KEY is missing.');
  const [currentId, currentKey] = current;
  const aad = (id: string, context: string): Buffer => Buffer.from(`v1.${id}.${context}`);

  return {
    /**
     * `context` names the place of the value, for example `stores/<id>/pos`. It is not stored, and a value
     * that was copied to another place can't be opened there.
     */
    seal: (value: string, context: string): string => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', currentKey, nonce).setAAD(aad(currentId, context));
      const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
      return `v1.${currentId}.${Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64url')}`;
    },
    /** Undefined unless the value was sealed with one of the keys for this context. */
    open: (sealed: string, context: string): string | undefined => {
      const [, id = '', data = ''] = /^v1\.([0-9a-f]{8})\.([\w-]+)$/.exec(sealed) ?? [];
      const key = ring.get(id);
      const bytes = Buffer.from(data, 'base64url');
      if (key === undefined || bytes.length < nonceBytes + tagBytes) return undefined;
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), {
          authTagLength: tagBytes,
        });
        decipher.setAAD(aad(id, context)).setAuthTag(bytes.subarray(-tagBytes));
        const text = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch {
        // The value was changed, or moved here from another place.
        return undefined;
      }
    },
    /** Whether it was sealed with an older key and should be sealed again. */
    isOutdated: (sealed: string): boolean => !sealed.startsWith(`v1.${currentId}.`),
  };
};
