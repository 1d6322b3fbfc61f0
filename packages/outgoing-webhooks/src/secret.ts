import { createHmac } from 'node:crypto';

/** The input that the secret of a subscription is derived from. */
export interface SecretSource {
  id: string;
  /** Number of its current secret, from 1. */
  generation: number;
}

/**
 * The secret of a subscription (`whsec_` and 256 bits in base64, the format of Standard Webhooks). It is derived from a key of
 * the service, so that it is not stored.
 */
export const secretOf = (key: string, { id, generation }: SecretSource): string =>
  `whsec_${createHmac('sha256', key).update(`${id}.${generation}`).digest('base64')}`;
