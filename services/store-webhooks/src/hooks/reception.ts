import { createRateLimit, type RateLimit } from '@platform/service-kit/rate-limit';
import { LRUCache } from 'lru-cache';
import { trustedAddresses, type Context } from '../context.ts';
import { answerPayment } from '../payments/answer.ts';
import { Unprocessable } from '../worker/unprocessable.ts';
import type { Reception } from './receive.ts';

/** Requests a minute for each store that has such a limit; whichever token they came with. */
const createLimit = ({ redis }: Context): Reception['limit'] => {
  const limits = new LRUCache<number, RateLimit>({ max: 1000 });
  return async (res, { id, settings }) => {
    const perMinute = settings.requestsPerMinute;
    if (perMinute === undefined) return;
    const name = `store-webhooks:hooks:${perMinute}`;
    const limit = limits.get(perMinute) ?? createRateLimit({ name, redis, perMinute });
    limits.set(perMinute, limit);
    await limit(res, id);
  };
};

/** What receiving needs of the context. */
export const createReception = (context: Context): Reception => {
  const { database, box, reader, log, tracker, env, now } = context;
  const answering = {
    sql: database.sql,
    box,
    reader,
    log,
    tracker,
    now,
    redirectStatus: env.REDIRECT_STATUS,
  };
  return {
    tokens: context.tokens,
    countOldUse: (hash) => context.oldUses.count(hash),
    accept: async (receipt) => {
      const stored = await context.inbox.accept(receipt);
      const { state, error, storeId, event, id: eventId } = receipt;
      // No worker sees this event, so nobody else would report it.
      if (state === 'failed' && stored !== 'duplicate')
        tracker.capture(new Unprocessable(error ?? ''), { storeId, event, eventId });
      return stored;
    },
    failureLimit: context.failureLimit,
    limit: createLimit(context),
    completePayment: (challenge) => answerPayment(answering, challenge),
    isTrusted: trustedAddresses(context),
    publicUrl: env.PUBLIC_URL,
    now,
    box,
  };
};
