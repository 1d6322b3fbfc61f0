import { startBackground } from '@platform/service-kit/background';
import type { Context } from '../context.ts';
import { pruneSlices } from './store.ts';

/** The context of a service that deletes results of imports when they are a day old, until it is disposed of. */
export const withPruning = (context: Context): Context => {
  const pruning = startBackground({
    name: 'prune results of imports',
    everyMs: 60_000,
    log: context.log,
    run: async () => (await pruneSlices(context.database.sql)) > 0,
  });
  return {
    ...context,
    [Symbol.asyncDispose]: async () => {
      await pruning[Symbol.asyncDispose]();
      await context[Symbol.asyncDispose]();
    },
  };
};
