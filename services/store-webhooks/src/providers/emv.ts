import { z } from 'zod';
import { Unprocessable } from '../errors.ts';
import { fieldOf, orNull, parsePayload, storableText } from './payload-parsing.ts';
import type { AuthenticationResult } from './records.ts';

/** The results request (RReq) that a 3DS server received, with the field names of EMV 3DS. */
const results = z.object({
  messageType: orNull(z.string().max(10)),
  threeDSServerTransID: orNull(z.string().max(100)),
  transStatus: orNull(z.string().max(2)),
  authenticationValue: orNull(storableText(100)),
  eci: orNull(storableText(10)),
});

/**
 * Reads the result of the challenge `requestedId` from a 3DS server's answer, which may contain the RReq as
 * `resultsRequest`. Throws Unprocessable for an unknown transaction (404, or an EMV `Erro` message, which
 * may have status 200) and for the result of another transaction.
 */
export const resultIn = (answer: unknown, requestedId: string): AuthenticationResult => {
  if (answer === undefined) throw new Unprocessable('The provider does not know the transaction.');
  const result = parsePayload(results, fieldOf(answer, 'resultsRequest') ?? answer);
  const { messageType, threeDSServerTransID, transStatus, authenticationValue, eci } = result;
  if (messageType === 'Erro' || (fieldOf(answer, 'errorDetails') ?? null) !== null)
    throw new Unprocessable('The provider answered with an error message.');
  if (threeDSServerTransID !== null && threeDSServerTransID.toLowerCase() !== requestedId.toLowerCase())
    throw new Unprocessable('The provider answered for another transaction.');
  return { transStatus, cavv: authenticationValue, eci };
};
