import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { countUnsent } from '../overload/connections.ts';
import { waitUncounted } from '../overload/request-scope.ts';

/**
 * Sends text as fast as the client reads, also `into` a stream that ends in the response. Rejects when the client has gone
 * away or has read nothing for `idleMs`.
 */
export const createSender = (
  res: ServerResponse,
  idleMs: number,
  into: Writable = res,
): ((text: string | Uint8Array) => Promise<void>) => {
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  return async (text) => {
    if (text.length === 0 || into.write(text)) return;
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(idleMs)]);
    const release = countUnsent(res.req, res, text.length);
    try {
      await waitUncounted(() => once(into, 'drain', { signal }));
    } finally {
      release?.();
    }
  };
};
