import { randomUUID } from 'node:crypto';
import type { Fields } from './factories.ts';
import { call, type Answer } from './harness.ts';

export interface Sent {
  callback: 'debit' | 'credit' | 'rollback';
  fields: Fields & { playerId: string; transactionId: string };
  /** Undefined: no answer came. */
  answer: Answer | undefined;
}

/** Sends debits, credits and rollbacks over many connections until `stop` is called, which returns everything that was sent. */
export const startLoad = (url: string, players: readonly string[], connections = 12) => {
  const sent: Sent[] = [];
  const running = new AbortController();
  const ask = async (callback: Sent['callback'], fields: Sent['fields']): Promise<Answer | undefined> => {
    const one: Sent = { callback, fields, answer: undefined };
    sent.push(one);
    one.answer = await call(url, callback, { requestId: randomUUID(), ...fields }).catch(() => undefined);
    return one.answer;
  };
  const play = async (worker: number): Promise<void> => {
    for (let turn = 0; !running.signal.aborted; turn++) {
      const playerId = players[(worker + turn) % players.length] ?? '';
      const roundId = randomUUID();
      const transactionId = randomUUID();
      const debited = await ask('debit', {
        playerId,
        transactionId,
        roundId,
        gameCode: 'dice-alpha',
        amount: '0.07',
      });
      if (debited?.status !== 'OK') continue;
      const ending = {
        playerId,
        transactionId: randomUUID(),
        roundId,
        gameId: 'dice-alpha',
        roundClosed: true,
      };
      if (turn % 5 === 0) await ask('rollback', { ...ending, reverseTransactionId: transactionId });
      else await ask('credit', { ...ending, amount: '0.03' });
    }
  };
  const all = Promise.all(Array.from({ length: connections }, (_, worker) => play(worker)));
  return {
    sent,
    stop: async (): Promise<Sent[]> => {
      running.abort();
      await all;
      return sent;
    },
  };
};
