import { maintainDirectories } from '@platform/pagination/maintenance';
import type { Context } from './context.ts';
import { directories } from './db/directories.ts';

/** The context; its page directories are maintained until it is disposed of. */
export const withMaintenance = (context: Context, databaseUrl: string): Context => {
  const { log, metrics } = context;
  const maintenance = maintainDirectories({
    databaseUrl,
    directories,
    log,
    registry: metrics.registry,
  });
  return {
    ...context,
    [Symbol.asyncDispose]: async () => {
      await maintenance[Symbol.asyncDispose]();
      await context[Symbol.asyncDispose]();
    },
  };
};
