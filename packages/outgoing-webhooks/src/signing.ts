import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** What the secrets of a subscription are derived from. */
export interface SecretOf {
  id: string;
  /** Counts its secrets. */
  generation: number;
}

/**
 * The secret of a subscription (`whsec_` and base64 of 256 bits, as Standard Webhooks writes it). It is derived from a key of
 * the service, so that no table has it.
 */
export const secretOf = (key: string, { id, generation }: SecretOf): string =>
  `whsec_${createHmac('sha256', key).update(`${id}.${generation}`).digest('base64')}`;

/** The headers that sign a body by each of the secrets. Source: Standard Webhooks 1.0.0, section Signature scheme. */
export const signedHeaders = (secrets: readonly string[], event: string, body: string, at: Date) => ({
  'content-type': 'application/json',
  'webhook-id': event,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(event, at, body)).join(' '),
});
