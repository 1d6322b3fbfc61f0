import { load, type LoadRequest } from './load.ts';
import { orderRequest, type Store } from './subjects/store-webhooks.ts';

/** Sends one request repeatedly; returns the responses per second. Throws if a request fails. */
export const requestRate = async (
  url: string,
  request: LoadRequest,
  { connections = 64, seconds = 4 } = {},
): Promise<number> => {
  const { perSecond, failed } = await load({ url, requests: [request], connections, seconds });
  if (failed > 0) throw new Error(`${failed} requests to ${url}${request.path} failed`);
  return perSecond;
};

/** Processing that ends within this time after the last webhook does not lower the rate. */
const graceMs = 2000;

/** Sends webhooks for `seconds`; returns those processed per second, until the last one is processed. */
export const processedRate = async (
  url: string,
  store: Store,
  seconds: number,
  allProcessed: () => Promise<void>,
): Promise<number> => {
  const start = performance.now();
  const perSecond = await requestRate(url, orderRequest(store), { seconds });
  await allProcessed();
  const elapsedMs = Math.max(seconds * 1000, performance.now() - start - graceMs);
  return (perSecond * seconds * 1000) / elapsedMs;
};
