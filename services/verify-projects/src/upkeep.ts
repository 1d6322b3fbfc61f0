import { tendDirectories } from '@platform/pagination/directory/tend';
import type { Context } from './context.ts';
import { projectDirectory } from './db/directory.ts';

/** The context with its page directory being kept in shape until it is disposed of. */
export const tended = (context: Context): Context => {
  const { database, log, metrics } = context;
  const upkeep = tendDirectories({
    sql: database.sql,
    directories: [projectDirectory],
    log,
    registry: metrics.registry,
  });
  return {
    ...context,
    [Symbol.asyncDispose]: async () => {
      // Cancels the statement that maintenance waits for.
      await upkeep[Symbol.asyncDispose]();
      await context[Symbol.asyncDispose]();
    },
  };
};
