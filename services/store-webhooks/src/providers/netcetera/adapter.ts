import { z } from 'zod';
import type { ThreeDSAdapter } from '../adapter.ts';
import { ProviderAway } from '../exchange.ts';
import { fieldOf, maybe, shaped } from '../shape.ts';

/** EMV 3DS names, as in the results request (RReq) that the 3DS server keeps. */
const result = z.looseObject({
  transStatus: maybe(z.string().max(2)),
  authenticationValue: maybe(z.string().max(100)),
  eci: maybe(z.string().max(10)),
});

/** Netcetera 3DS Server: asks for the results of a challenge. */
export const netcetera: ThreeDSAdapter = {
  kind: 'netcetera',
  result: async (threeDSServerTransID, { settings, credentials, reader }) => {
    const { authorization } = credentials;
    const answer = await reader.get(
      settings.baseUrl,
      `/3ds/results/${encodeURIComponent(threeDSServerTransID)}`,
      authorization === undefined ? {} : { authorization },
    );
    if (answer === undefined) throw new ProviderAway('does not know the transaction', false);
    const kept = fieldOf(answer, 'resultsRequest') ?? answer;
    const { transStatus, authenticationValue, eci } = shaped(result, kept);
    return { transStatus, cavv: authenticationValue, eci };
  },
};
