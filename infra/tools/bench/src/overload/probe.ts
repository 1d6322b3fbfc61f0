import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../figure.ts';
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

export const p99 = (samples: readonly Sample[]): number =>
  percentile(
    samples.map(({ ms }) => ms),
    0.99,
  );

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

/** Sends the requests in turn, one every `everyMs` whether the last one is answered or not, until `end` is aborted. */
export const probe = async (
  url: string,
  requests: readonly LoadRequest[],
  end: AbortSignal,
  everyMs = 10,
): Promise<Sample[]> => {
  const running: Promise<Sample>[] = [];
  while (!end.aborted) {
    running.push(send(url, requests[running.length % requests.length] ?? { path: '/' }));
    await sleep(everyMs);
  }
  return Promise.all(running);
};

/** Probes while `work` runs. */
export const probeDuring = async <T>(
  url: string,
  requests: readonly LoadRequest[],
  work: () => Promise<T>,
  everyMs?: number,
): Promise<{ samples: Sample[]; result: T }> => {
  const end = new AbortController();
  const probing = probe(url, requests, end.signal, everyMs);
  try {
    const result = await work();
    end.abort();
    return { samples: await probing, result };
  } finally {
    end.abort();
  }
};
