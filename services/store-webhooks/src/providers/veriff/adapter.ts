import { z } from 'zod';
import { Ignored } from '../../errors.ts';
import type { IdentityAdapter } from '../adapter.ts';
import { textSecret } from '../credentials.ts';
import { relayedVerification, unmaskedVerificationFields } from '../pos-payloads.ts';
import { pointersTo, fieldOf, identifierIn, valueAt, parsePayload } from '../payload-parsing.ts';
import { hmacSigning } from '../signatures.ts';
import { decision, fullAuto, progress } from './schema.ts';

const decisionSession = (body: unknown) => identifierIn(valueAt(body, 'verification', 'id'));
const progressSession = (body: unknown) =>
  typeof fieldOf(body, 'action') === 'string' ? identifierIn(fieldOf(body, 'id')) : undefined;
const sessionId = (body: unknown) =>
  decisionSession(body) ?? progressSession(body) ?? identifierIn(fieldOf(body, 'sessionId'));

export const veriff: IdentityAdapter = {
  kind: 'veriff',
  userIdFrom: 'vendorData, or else endUserId',
  credentials: z.strictObject({ webhookSecret: textSecret() }).partial(),
  payloads: [decision, progress, fullAuto],
  unmaskedFields: [
    ...unmaskedVerificationFields,
    ...pointersTo(
      '',
      'id code action feature attemptId sessionId vendorData endUserId eventType version time',
    ),
    ...pointersTo('', 'acceptanceTime checkType matchStatus totalHits createdAt'),
    ...pointersTo('/verification', 'id code status reasonCode attemptId vendorData endUserId'),
    ...pointersTo('/verification', 'decisionTime acceptanceTime submissionTime'),
    ...pointersTo('/data/verification', 'decision decisionScore'),
  ],
  recognises: (body) => sessionId(body) !== undefined,
  // A webhook of a relay, see `relayedVerification`, has a transactionId instead of the ids of Veriff.
  subject: (body) => ({ id: sessionId(body) ?? identifierIn(fieldOf(body, 'transactionId')) }),
  verification: (body) => {
    if (decisionSession(body) !== undefined) return parsePayload(decision, body);
    if (progressSession(body) !== undefined) return parsePayload(progress, body);
    if (fieldOf(body, 'eventType') === 'fullauto') return parsePayload(fullAuto, body);
    // Watchlist results and manually set statuses name a session but do not change its verification.
    if (sessionId(body) !== undefined) throw new Ignored('This webhook changes no verification.');
    return parsePayload(relayedVerification, body);
  },
  ...hmacSigning({ header: 'x-hmac-signature', algorithm: 'sha256', encoding: 'hex' }),
};
