import { z } from 'zod';
import { timestampedMatches } from '../signatures.ts';
import { Ignored } from '../../errors.ts';
import type { Connection, IdentityAdapter } from '../adapter.ts';
import { headerCredential, textSecrets } from '../credentials.ts';
import { relayedVerification, unmaskedVerificationFields, type VerificationRecord } from '../pos-payloads.ts';
import { pointersTo, fieldOf, identifierIn, valueAt, parsePayload } from '../payload-parsing.ts';
import { event, inquiry, inquiryEvent } from './schema.ts';

const inquiryId = (body: unknown): string | undefined =>
  identifierIn(valueAt(body, 'data', 'attributes', 'payload', 'data', 'id'));

const toRecord = (payload: unknown, eventTime: number | null = null): VerificationRecord => {
  const { id, attributes } = parsePayload(inquiry, payload).data;
  return {
    transactionId: id,
    status: attributes.status,
    userId: attributes['reference-id'],
    version: attributes['updated-at'] ?? eventTime,
  };
};

/** The inquiry as Persona has it now; undefined without an API key or if Persona has no such inquiry. */
const readInquiry = async (id: string, { settings, credentials, reader }: Connection) => {
  const { apiKey } = credentials;
  if (apiKey === undefined) return undefined;
  const answer = await reader.get(
    { ...settings, baseUrl: settings.baseUrl ?? 'https://withpersona.com' },
    ['api', 'v1', 'inquiries', id],
    { authorization: `Bearer ${apiKey}` },
  );
  return answer === undefined ? undefined : toRecord(answer);
};

export const persona: IdentityAdapter = {
  kind: 'persona',
  userIdFrom: 'reference-id',
  credentials: z.strictObject({ apiKey: headerCredential(), webhookSecret: textSecrets() }).partial(),
  payloads: [inquiryEvent],
  unmaskedFields: [
    ...unmaskedVerificationFields,
    ...pointersTo(
      '/data',
      'type id attributes/name attributes/created-at attributes/created_at attributes/createdAt',
    ),
    ...pointersTo('/data/attributes/payload/data', 'type id attributes/status'),
    ...pointersTo('/data/attributes/payload/data/attributes', 'reference-id reference_id referenceId'),
    ...pointersTo('/data/attributes/payload/data/attributes', 'created-at created_at createdAt'),
    ...pointersTo('/data/attributes/payload/data/attributes', 'updated-at updated_at updatedAt'),
  ],
  recognises: (body) => inquiryId(body) !== undefined,
  subject: (body) => {
    const id = inquiryId(body);
    if (id === undefined) return { id: identifierIn(fieldOf(body, 'transactionId')) };
    return { id, eventId: identifierIn(valueAt(body, 'data', 'id')) };
  },
  verification: (body, connection) => {
    if (inquiryId(body) !== undefined) {
      const { name, payload, 'created-at': time } = parsePayload(event, body).data.attributes;
      if (!name.startsWith('inquiry.')) throw new Ignored('Only inquiry events change a verification.');
      return toRecord(payload, time);
    }
    const id = identifierIn(fieldOf(body, 'transactionId'));
    // A relay may only name the transaction that changed, so its status is looked up.
    if (id === undefined || fieldOf(body, 'status') !== undefined)
      return parsePayload(relayedVerification, body);
    const relayedFields = { service: identifierIn(fieldOf(body, 'service')), transactionId: id };
    return readInquiry(id, connection).then(
      (inquiry) => inquiry ?? parsePayload(relayedVerification, relayedFields),
    );
  },
  headers: ['persona-signature'],
  signed: ({ headers, body, now }, { credentials: { webhookSecret } }) =>
    webhookSecret === undefined
      ? undefined
      : timestampedMatches(
          { secrets: webhookSecret.split(',', 2), toleranceSeconds: 300, now },
          body,
          headers['persona-signature'],
        ),
};
