import { startBackground } from '@platform/service-kit/background';
import type { Context } from '../../context.ts';

const everyMs = 3_600_000;

/** The context, with a partition of the refusals for each of the next days, and none for days before REFUSALS_DAYS. */
export const withRefusalDays = (context: Context): Context => {
  const { database, env, log } = context;
  const keeping = startBackground({
    name: 'refusals',
    everyMs,
    log,
    run: async () => void (await database.sql`select keep_refusal_days(${env.REFUSALS_DAYS})`),
  });
  return {
    ...context,
    [Symbol.asyncDispose]: async () => {
      await keeping[Symbol.asyncDispose]();
      await context[Symbol.asyncDispose]();
    },
  };
};
