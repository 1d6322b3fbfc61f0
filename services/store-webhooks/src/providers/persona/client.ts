import type { Connection } from '../adapter.ts';
import type { VerificationRecord } from '../records.ts';
import { shaped } from '../shape.ts';
import { toVerification } from './mapping.ts';
import { inquiry } from './schema.ts';

/** The inquiry as Persona has it now; undefined where it can't be asked or knows none. */
export const readInquiry = async (
  id: string,
  { settings, credentials, reader }: Connection,
): Promise<VerificationRecord | undefined> => {
  const { apiKey } = credentials;
  if (apiKey === undefined) return undefined;
  const answer = await reader.get(
    settings.baseUrl ?? 'https://withpersona.com',
    `/api/v1/inquiries/${encodeURIComponent(id)}`,
    { authorization: `Bearer ${apiKey}` },
  );
  return answer === undefined ? undefined : toVerification(shaped(inquiry, answer).data);
};
