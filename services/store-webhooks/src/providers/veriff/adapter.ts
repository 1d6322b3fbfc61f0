import { hmacMatches } from '@platform/auth/provider-signatures';
import type { IdentityAdapter } from '../adapter.ts';
import { seedVerification } from '../identity-seed.ts';
import { fieldOf, idIn, pathOf, shaped } from '../shape.ts';
import { fromDecision, fromProgress } from './mapping.ts';
import { decision, progress } from './schema.ts';

const isDecision = (body: unknown): boolean => idIn(pathOf(body, 'verification', 'id')) !== undefined;
const isProgress = (body: unknown): boolean =>
  idIn(fieldOf(body, 'id')) !== undefined && typeof fieldOf(body, 'action') === 'string';

export const veriff: IdentityAdapter = {
  kind: 'veriff',
  headers: ['x-hmac-signature'],
  recognises: (body) => isDecision(body) || isProgress(body),
  subject: (body) => ({
    id:
      idIn(pathOf(body, 'verification', 'id')) ??
      (isProgress(body) ? idIn(fieldOf(body, 'id')) : idIn(fieldOf(body, 'transactionId'))),
  }),
  verification: async (body) => {
    if (isDecision(body)) return fromDecision(shaped(decision, body));
    return isProgress(body) ? fromProgress(shaped(progress, body)) : seedVerification(body);
  },
  signed: ({ headers, body }, { credentials: { webhookSecret } }) =>
    webhookSecret === undefined
      ? undefined
      : hmacMatches(
          { algorithm: 'sha256', encoding: 'hex' },
          webhookSecret,
          [body],
          headers['x-hmac-signature'],
        ),
};
