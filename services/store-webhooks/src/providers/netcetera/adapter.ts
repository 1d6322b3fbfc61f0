import { z } from 'zod';
import type { ThreeDSAdapter } from '../adapter.ts';
import { headerCredential } from '../credentials.ts';

/** Netcetera 3DS Server: requests the result of a challenge. */
export const netcetera: ThreeDSAdapter = {
  kind: 'netcetera',
  credentials: z.strictObject({ authorization: headerCredential() }).partial(),
  requestResult: (id, { settings, credentials: { authorization }, reader }) =>
    reader.get(settings, ['3ds', 'results', id], authorization === undefined ? {} : { authorization }),
};
