import { timestampedMatches } from '@platform/auth/provider-signatures';
import type { IdentityAdapter } from '../adapter.ts';
import { seedVerification } from '../identity-seed.ts';
import { fieldOf, idIn, pathOf, shaped } from '../shape.ts';
import { readInquiry } from './client.ts';
import { fromWebhook } from './mapping.ts';
import { webhook } from './schema.ts';

const inquiryId = (body: unknown): string | undefined =>
  idIn(pathOf(body, 'data', 'attributes', 'payload', 'data', 'id'));

export const persona: IdentityAdapter = {
  kind: 'persona',
  headers: ['persona-signature'],
  recognises: (body) => inquiryId(body) !== undefined,
  subject: (body) => {
    const id = inquiryId(body);
    if (id === undefined) return { id: idIn(fieldOf(body, 'transactionId')) };
    return { id, eventId: idIn(pathOf(body, 'data', 'id')) };
  },
  verification: async (body, connection) => {
    if (inquiryId(body) !== undefined) return fromWebhook(shaped(webhook, body));
    const id = idIn(fieldOf(body, 'transactionId'));
    // A relay that only says that something changed: what, is asked.
    const asked =
      id !== undefined && fieldOf(body, 'status') === undefined
        ? await readInquiry(id, connection)
        : undefined;
    return asked ?? seedVerification(body);
  },
  signed: ({ headers, body, now }, { credentials: { webhookSecret } }) =>
    webhookSecret === undefined
      ? undefined
      : timestampedMatches(
          { secrets: webhookSecret.split(','), toleranceSeconds: 300, now },
          body,
          headers['persona-signature'],
        ),
};
