import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestSignatures } from '@platform/auth/hmac';

/** The answer of an operator; `http` is 0 when none arrived in time. */
export interface CallbackAnswer {
  http: number;
  requestId?: unknown;
  status?: unknown;
  balance?: unknown;
  [more: string]: unknown;
}

export interface CallerOptions {
  /** {callback_url}: the address that `/callback/…` is appended to. */
  url: string;
  signatures: RequestSignatures;
  limitMs?: number;
  /** Chance from 0 to 1 that an answer is treated as lost, to test how the operator answers the retry. */
  dropRate?: number;
  random?: () => number;
}

/** Signs and sends one callback; never rejects. */
export const sendCallback = async (
  { url, signatures, limitMs = 5000 }: Pick<CallerOptions, 'url' | 'signatures' | 'limitMs'>,
  callback: string,
  body: object | string,
): Promise<CallbackAnswer> => {
  const base = new URL(url);
  const path = `${base.pathname.replace(/\/$/, '')}/callback/${callback}`;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { timestamp, signature } = signatures.sign(path, text);
  try {
    const answer = await fetch(new URL(path, base), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Timestamp': timestamp, 'X-HMAC-SHA256': signature },
      body: text,
      signal: AbortSignal.timeout(limitMs),
    });
    const content: unknown = await answer.json().catch(() => undefined);
    return { ...(typeof content === 'object' ? content : {}), http: answer.status };
  } catch {
    return { http: 0 };
  }
};

const attempts = 4;

/**
 * Repeats like a real game server: a callback without a clear answer (none, or 5xx) is sent again with the same transactionId,
 * a little later each time. Gives the last answer.
 */
export const createCaller = (options: CallerOptions) => {
  const { dropRate = 0, random = Math.random } = options;
  return async (callback: string, fields: object): Promise<CallbackAnswer> => {
    let answer: CallbackAnswer = { http: 0 };
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (attempt > 0) await sleep(50 * 2 ** attempt);
      answer = await sendCallback(options, callback, { requestId: randomUUID(), ...fields });
      if (answer.http > 0 && answer.http < 500 && random() >= dropRate) return answer;
      answer = { http: 0 };
    }
    return answer;
  };
};
