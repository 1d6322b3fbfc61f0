import { setTimeout as sleep } from 'node:timers/promises';
import type { Sending } from './traffic.ts';

export interface Delivered {
  acknowledged: number;
  /** Number of retries, because the response was not 200. */
  resent: number;
}

const pauseMs = 200;

/** Sends webhooks as providers do: several at a time, each retried until the response is 200, for up to `patienceSeconds`. */
export const deliver = async (
  hooksUrl: string,
  token: string,
  sendings: readonly Sending[],
  { connections, patienceSeconds }: { connections: number; patienceSeconds: number },
): Promise<Delivered> => {
  const delivered = { acknowledged: 0, resent: 0 };
  const deadline = Date.now() + patienceSeconds * 1000;
  let next = 0;

  const sendOnce = async ({ event, service, body }: Sending): Promise<boolean> => {
    const middle = service === undefined ? '' : `/${service}`;
    try {
      const answer = await fetch(`${hooksUrl}/${event}${middle}/${token}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      await answer.arrayBuffer();
      return answer.status === 200;
    } catch {
      return false;
    }
  };
  const connection = async (): Promise<void> => {
    for (let sending = sendings[next++]; sending !== undefined; sending = sendings[next++]) {
      while (!(await sendOnce(sending))) {
        if (Date.now() > deadline) throw new Error('Webhooks are not answered with 200.');
        delivered.resent++;
        await sleep(pauseMs);
      }
      delivered.acknowledged++;
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  return delivered;
};
