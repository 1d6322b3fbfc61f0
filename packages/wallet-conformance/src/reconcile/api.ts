import { setTimeout as sleep } from 'node:timers/promises';

/** A reconciliation, with the fields of the API that the program reads. */
export interface Reconciliation {
  reconciliationId: string;
  status: 'receiving' | 'comparing' | 'done' | 'failed';
  failure: string | null;
  lines: number;
  differences: number;
  fields: { field: string; lines: number }[];
  kinds: { kind: string; differences: number }[];
}

/** A transaction as one side has it. */
interface Side {
  operation: string;
  amount: string | null;
  currency: string | null;
  time: string | null;
}

export interface Difference {
  number: number;
  kind: string;
  playerId: string;
  transactionId: string;
  there: Side | null;
  here: Side | null;
  repair: string;
}

export interface DifferenceList {
  differences: Difference[];
  page: { has_more: boolean };
}

/** What the ledger decided about a repair, or would decide. */
export interface RepairResult {
  number: number;
  repair: string;
  state: string;
  status: string | null;
  reason: string | null;
}

export interface DryRun {
  dryRunId: string;
  approvedBy: string | null;
  sums: { kind: string; operation: string; currency: string | null; repairs: number; amount: string }[];
  repairs: RepairResult[];
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

export interface Api {
  /** The answer to a request. Throws an Error with what the problem document says when it is refused. */
  ask(path: string, options?: RequestInit): Promise<Response>;
  askJson<T>(path: string, options?: RequestInit): Promise<T>;
  post<T>(path: string, body: object): Promise<T>;
}

/**
 * Calls the management API of a wallet-operator. Repeats a request that is refused because of overload or its deadline:
 * repeating a repair changes nothing. Only a statement cannot be sent again, because its file was read.
 */
export const createApi = (url: string, token: string): Api => {
  const ask: Api['ask'] = async (path, options = {}) => {
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
    post: (path, body) =>
      askJson(path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
  };
};
