import { z } from 'zod';
import type { ThreeDSAdapter } from '../adapter.ts';
import { headerCredential } from '../credentials.ts';

/** 3dsecure.io: POST /postauth returns the result of a challenge for 300 seconds. */
export const threedsecureio: ThreeDSAdapter = {
  kind: 'threedsecureio',
  credentials: z.strictObject({ apiKey: headerCredential() }).partial(),
  requestResult: (threeDSServerTransID, { settings, credentials: { apiKey = '' }, reader }) =>
    reader.post(
      { ...settings, baseUrl: settings.baseUrl ?? 'https://service.3dsecure.io' },
      ['postauth'],
      { APIKey: apiKey },
      { threeDSServerTransID },
    ),
};
