import { setTimeout as sleep } from 'node:timers/promises';
// Only types: the program needs none of the client when it runs.
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

/** Differences of one dry run. */
export const maxRepairs = 1000;

const mostRepeats = 100;

/** What a problem document says; a proxy in between may send anything else. */
const detailOf = (text: string): string => {
  try {
    return (JSON.parse(text) as { detail?: string }).detail ?? text;
  } catch {
    return text;
  }
};

/**
 * Calls the management API of a wallet-operator. Repeats a request that is refused because of overload or its deadline:
 * repeating a repair changes nothing. Only a statement cannot be sent again, because its file was read.
 */
export const createApi = (url: string, token: string) => {
  /** The answer to a request. Throws an Error with what the problem document says when it is refused. */
  const ask = async (path: string, options: RequestInit = {}): Promise<Response> => {
    const headers = { ...options.headers, Authorization: `Bearer ${token}` };
    for (let left = options.body instanceof ReadableStream ? 0 : mostRepeats; ; left--) {
      const answer = await fetch(url + path, { ...options, headers });
      if (answer.ok) return answer;
      const text = await answer.text();
      if (answer.status !== 503 || left === 0) throw new Error(`${answer.status}: ${detailOf(text)}`);
      await sleep(Number(answer.headers.get('Retry-After') ?? 1) * 1000);
    }
  };
  const askJson = async <T>(path: string, options?: RequestInit): Promise<T> =>
    (await (await ask(path, options)).json()) as T;
  return {
    ask,
    askJson,
    post: <T>(path: string, body: object): Promise<T> =>
      askJson<T>(path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
  };
};

export type Api = ReturnType<typeof createApi>;
