import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBackend, type Deviations, type Reply } from '../certify/wallet.ts';
import type { Faults } from './faults.ts';

/** The answer of an operator; `http` is 0 when none arrived in time. */
export type CallbackAnswer = Pick<Reply, 'http'> & Partial<Reply>;

const noAnswer: CallbackAnswer = { http: 0 };

/** How long one answer may take. */
const limitMs = 5000;

interface CallerOptions {
  /** {callback_url}: the address that `/callback/…` is appended to. */
  url: string;
  secret: string;
  /** What goes wrong on purpose; nothing when undefined. */
  faults?: Faults | undefined;
}

const attempts = 4;

/** Later than the repetitions of a callback, and often later than its rollback. */
const lateMs = 1000;

export interface Caller {
  /**
   * Repeats like a real game server: a callback without a clear answer (none, or 5xx) is sent again with the same
   * transactionId, a little later each time. Gives the last answer.
   */
  call(callback: string, fields: object): Promise<CallbackAnswer>;
  /** Sends what is held back, and resolves when everything has been answered. */
  settle(): Promise<void>;
}

export const createCaller = ({ url, secret, faults }: CallerOptions): Caller => {
  const backend = openBackend({ url, secret, limitMs });
  const held: (() => Promise<unknown>)[] = [];
  const underWay = new Set<Promise<unknown>>();
  const follow = (sent: Promise<unknown>): void => {
    underWay.add(sent);
    void sent.finally(() => underWay.delete(sent));
  };
  const release = (): void => {
    for (const send of held.splice(0)) follow(send());
  };

  const sendOnce = async (callback: string, body: object): Promise<CallbackAnswer> => {
    // No connection, or no answer in time: a game server sends such a callback again.
    const send = (deviations?: Deviations): Promise<CallbackAnswer> =>
      backend(callback, JSON.stringify(body), deviations).catch(() => noAnswer);
    switch (faults?.ofCallback()) {
      case 'lost':
        await send();
        return noAnswer;
      case 'late':
        follow(sleep(lateMs).then(() => send()));
        return noAnswer;
      case 'reordered':
        // It arrives after the next callback.
        held.push(send);
        return noAnswer;
      case 'doubled':
        return (await Promise.all([send(), send()]))[0];
      case 'signature':
        await send({ secret: 'another secret' });
        return noAnswer;
      default: {
        const answer = await send();
        release();
        return answer;
      }
    }
  };

  return {
    call: async (callback, fields) => {
      let answer = noAnswer;
      for (let attempt = 0; attempt < attempts; attempt++) {
        if (attempt > 0) await sleep(50 * 2 ** attempt);
        answer = await sendOnce(callback, { requestId: randomUUID(), ...fields });
        if (answer.http > 0 && answer.http < 500) return answer;
      }
      return noAnswer;
    },
    settle: async () => {
      release();
      await Promise.all(underWay);
    },
  };
};
