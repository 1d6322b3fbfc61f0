import { z } from 'zod';
import { Ignored } from '../../worker/unprocessable.ts';
import type { IdentityAdapter } from '../adapter.ts';
import { textSecret } from '../credentials.ts';
import { verification, verificationHarmless } from '../seed.ts';
import { below, fieldOf, idIn, pathOf, shaped } from '../shape.ts';
import { hmacSigning } from '../signing.ts';
import { decision, fullAuto, progress } from './schema.ts';

const decided = (body: unknown) => idIn(pathOf(body, 'verification', 'id'));
const progressed = (body: unknown) =>
  typeof fieldOf(body, 'action') === 'string' ? idIn(fieldOf(body, 'id')) : undefined;
const session = (body: unknown) => decided(body) ?? progressed(body) ?? idIn(fieldOf(body, 'sessionId'));

export const veriff: IdentityAdapter = {
  kind: 'veriff',
  credentials: z.strictObject({ webhookSecret: textSecret() }).partial(),
  payloads: [decision, progress, fullAuto],
  harmless: [
    ...verificationHarmless,
    ...below('', 'id code action feature attemptId sessionId vendorData endUserId eventType version time'),
    ...below('', 'acceptanceTime checkType matchStatus totalHits createdAt'),
    ...below('/verification', 'id code status reasonCode attemptId vendorData endUserId'),
    ...below('/verification', 'decisionTime acceptanceTime submissionTime'),
    ...below('/data/verification', 'decision decisionScore'),
  ],
  recognises: (body) => session(body) !== undefined,
  subject: (body) => ({ id: session(body) ?? idIn(fieldOf(body, 'transactionId')) }),
  verification: async (body) => {
    if (decided(body) !== undefined) return shaped(decision, body);
    if (progressed(body) !== undefined) return shaped(progress, body);
    if (fieldOf(body, 'eventType') === 'fullauto') return shaped(fullAuto, body);
    // Watchlist results and statuses that a person set belong to a session and decide nothing about it.
    if (session(body) !== undefined) throw new Ignored('This webhook changes no verification.');
    return shaped(verification, body);
  },
  ...hmacSigning({ header: 'x-hmac-signature', algorithm: 'sha256', encoding: 'hex' }),
};
