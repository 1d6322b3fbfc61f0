import { createHash } from 'node:crypto';
import type { Tx } from '@platform/service-kit/db';
import { Problem, Unavailable } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import { claimKey, findKey, storeAnswer, type IdempotencyKey } from './queries.ts';

const hashOf = (request: unknown): Buffer => createHash('sha256').update(JSON.stringify(request)).digest();

/**
 * Does `work` once for each idempotency key of a user, in one transaction with the answer that the key
 * remembers for a day. A repeat gets the first answer, and waits for it while the first request is running. The
 * same key with another request is refused. Without a key, `work` simply runs.
 */
export const once = <Answer>(
  { database }: Context,
  { userId, key, request }: { userId: string; key: string | undefined; request: unknown },
  work: (transaction: Tx) => Promise<Answer>,
): Promise<Answer> =>
  database.orm.transaction(async (transaction) => {
    if (key === undefined) return work(transaction);
    const id: IdempotencyKey = { userId, key };
    const requestHash = hashOf(request);
    if (await claimKey(transaction, { ...id, requestHash })) {
      const answer = await work(transaction);
      await storeAnswer(transaction, id, answer);
      return answer;
    }
    const first = await findKey(transaction, id);
    // The key was deleted in between, because it became a day old.
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
