import { load, type LoadRequest } from './load.ts';
import { orderRequest, type Shop } from './subjects/store-webhooks.ts';

/** Answers per second to one request that is sent again and again. Throws unless all are successful. */
export const rateOf = async (
  url: string,
  request: LoadRequest,
  { connections = 64, seconds = 4 } = {},
): Promise<number> => {
  const { perSecond, failed } = await load({ url, requests: [request], connections, seconds });
  if (failed > 0) throw new Error(`${failed} requests to ${url}${request.path} failed`);
  return perSecond;
};

/** A backlog that is processed within this time after the last webhook does not count. */
const graceMs = 2000;

/** Webhooks per second, from the first byte sent until the last one is processed. */
export const processedRate = async (
  url: string,
  shop: Shop,
  seconds: number,
  allProcessed: () => Promise<void>,
): Promise<number> => {
  const start = performance.now();
  const perSecond = await rateOf(url, orderRequest(shop), { seconds });
  await allProcessed();
  return (perSecond * seconds * 1000) / Math.max(seconds * 1000, performance.now() - start - graceMs);
};
