import { setTimeout as sleep } from 'node:timers/promises';
import { p99 } from '../figure.ts';
import { COUNTER, type LoadRequest } from '../load.ts';

export interface Sample {
  /** When it was sent, by `performance.now()`. */
  at: number;
  /** Time to the end of the answer. */
  ms: number;
  /** 0 where the connection was closed without an answer. */
  status: number;
}

export const isAccepted = ({ status }: Sample): boolean => status >= 200 && status < 300;

export const slowest = (samples: readonly Sample[]): number => p99(samples.map(({ ms }) => ms));

let sent = 0;

const send = async (url: string, request: LoadRequest): Promise<Sample> => {
  const { path, method = 'GET', headers = {}, body } = request;
  const at = performance.now();
  const status = await fetch(url + path, {
    method,
    headers,
    ...(body && { body: body.replace(COUNTER, `probe-${sent++}`) }),
  }).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.status;
    },
    () => 0,
  );
  return { at, ms: performance.now() - at, status };
};

/** Sends the requests in turn while `work` runs, one every 10 ms whether the last one is answered or not. */
export const probeDuring = async <T>(
  url: string,
  requests: readonly LoadRequest[],
  work: () => Promise<T>,
): Promise<{ samples: Sample[]; result: T }> => {
  let working = true;
  const probe = async (): Promise<Sample[]> => {
    const running: Promise<Sample>[] = [];
    while (working) {
      running.push(send(url, requests[running.length % requests.length] ?? { path: '/' }));
      await sleep(10);
    }
    return Promise.all(running);
  };
  const probing = probe();
  const result = await work().finally(() => (working = false));
  return { samples: await probing, result };
};
