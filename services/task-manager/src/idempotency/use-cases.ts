import { createHash } from 'node:crypto';
import type { Database } from '@platform/service-kit/db';
import { Problem, Unavailable } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import { claim, find, keepAnswer, prune, type KeyOf } from './store.ts';

type Transaction = Parameters<Parameters<Database['orm']['transaction']>[0]>[0];

/** A key is remembered this long; a repeat after that is a new request. */
const keptMs = 24 * 3_600_000;

const hashOf = (request: unknown): Buffer => createHash('sha256').update(JSON.stringify(request)).digest();

/**
 * Does `work` once for each key of a user, in one transaction with what the key remembers: a repeat
 * of the same request gets the first answer, also while the first is still at work. Another request
 * under the same key is refused. Without a key, `work` is simply done.
 */
export const once = <Answer>(
  { database, now }: Context,
  { userId, key, request }: { userId: string; key: string | undefined; request: unknown },
  work: (transaction: Transaction) => Promise<Answer>,
): Promise<Answer> =>
  database.orm.transaction(async (transaction) => {
    if (key === undefined) return work(transaction);
    const id: KeyOf = { userId, key };
    const requestHash = hashOf(request);
    const time = now();
    await prune(transaction, userId, new Date(time.getTime() - keptMs).toISOString());
    if (await claim(transaction, { ...id, requestHash, createdAt: time.toISOString() })) {
      const answer = await work(transaction);
      await keepAnswer(transaction, id, answer);
      return answer;
    }
    const first = await find(transaction, id);
    // Forgotten in this very moment, because its day is over.
    if (first === undefined) throw new Unavailable('write_conflict', 'Try again.', undefined, 1);
    if (!first.requestHash.equals(requestHash)) {
      throw new Problem({
        status: 422,
        code: 'idempotency_key_reused',
        detail: 'This Idempotency-Key was sent before with another body.',
      });
    }
    return first.answer as Answer;
  });
