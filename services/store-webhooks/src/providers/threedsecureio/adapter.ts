import { z } from 'zod';
import type { ThreeDSAdapter } from '../adapter.ts';
import { ProviderAway } from '../exchange.ts';
import { maybe, shaped } from '../shape.ts';

/** The result request message (RReq) that the 3DS server got from the directory server. */
const result = z.looseObject({
  transStatus: maybe(z.string().max(2)),
  authenticationValue: maybe(z.string().max(100)),
  eci: maybe(z.string().max(10)),
});

/** 3dsecure.io: POST /postauth tells the outcome of a challenge; it forgets it after some minutes. */
export const threedsecureio: ThreeDSAdapter = {
  kind: 'threedsecureio',
  result: async (threeDSServerTransID, { settings, credentials, reader }) => {
    const answer = await reader.ask(
      settings.baseUrl ?? 'https://service.3dsecure.io',
      '/postauth',
      { APIKey: credentials['apiKey'] ?? '' },
      { threeDSServerTransID },
    );
    if (answer === undefined) throw new ProviderAway('does not know the transaction', false);
    const { transStatus, authenticationValue, eci } = shaped(result, answer);
    return { transStatus, cavv: authenticationValue, eci };
  },
};
