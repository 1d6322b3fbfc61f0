import { setTimeout as sleep } from 'node:timers/promises';
// Types only, so that the packed program does not include the client.
import type { WalletOperator } from '@platform/client';

type Schemas = WalletOperator['schemas'];

export type Reconciliation = Schemas['ReconciliationWithKinds'];
export type Difference = Schemas['Difference'];
export type DryRun = Schemas['DryRun'];
export type RepairResult = Schemas['Repairs']['repairs'][number];

export interface DifferenceList {
  differences: Difference[];
  page: { has_more: boolean };
}

/** Maximum number of differences in one dry run. */
export const maxRepairs = 1000;

const maxRetries = 100;

/** The detail of a problem document; the whole text when a proxy sent something else. */
const detailOf = (text: string): string => {
  try {
    return (JSON.parse(text) as { detail?: string }).detail ?? text;
  } catch {
    return text;
  }
};

/**
 * A client of the management API of a wallet-operator. Retries requests that are answered 503 (overload or deadline): also
 * repairs, because a repeated repair changes nothing. The upload of a statement is not retried, because its stream is
 * already consumed.
 */
export const createApi = (url: string, token: string) => {
  /** Sends a request. Throws an Error with the detail of the problem document when the request is refused. */
  const request = async (path: string, options: RequestInit = {}): Promise<Response> => {
    const headers = { ...options.headers, Authorization: `Bearer ${token}` };
    for (let retries = options.body instanceof ReadableStream ? 0 : maxRetries; ; retries--) {
      const answer = await fetch(url + path, { ...options, headers });
      if (answer.ok) return answer;
      const text = await answer.text();
      if (answer.status !== 503 || retries === 0) throw new Error(`${answer.status}: ${detailOf(text)}`);
      await sleep(Number(answer.headers.get('Retry-After') ?? 1) * 1000);
    }
  };
  const requestJson = async <T>(path: string, options?: RequestInit): Promise<T> =>
    (await (await request(path, options)).json()) as T;
  return {
    request,
    requestJson,
    post: <T>(path: string, body: object): Promise<T> =>
      requestJson<T>(path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
  };
};

export type Api = ReturnType<typeof createApi>;
