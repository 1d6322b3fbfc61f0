import { outdatedChanges, withFeed } from '@platform/feed';
import { outdatedAttempts, withSubscriptions } from '@platform/outgoing-webhooks';
import { outdatedKeys } from '@platform/service-kit/idempotency';
import { withPruning } from '@platform/service-kit/pruning';
import { runService } from '@platform/service-kit/service';
import { createApp } from './app.ts';
import { createContext } from './context.ts';
import { processEnv } from './env.ts';
import { outdatedTokens } from './stores/queries.ts';
import { startBackgroundWork } from './processing/background-work.ts';

await runService({
  name: 'store-webhooks',
  env: processEnv,
  createContext: async (env, parts) => {
    const context = await createContext(env, parts);
    // A customer's request may wait for a 3DS provider longer than SHUTDOWN_TIMEOUT_MS. Interrupt it early enough to answer.
    const interrupt = () => setTimeout(() => context.stopping.abort(), env.SHUTDOWN_TIMEOUT_MS / 2).unref();
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, interrupt);
    await context.inbox.spool.recover();
    await context.clock.start();
    context.rotations.start();
    const pruned = withPruning(withSubscriptions(withFeed(context)), [
      outdatedTokens,
      outdatedKeys,
      outdatedChanges(env.FEED_DAYS),
      ...outdatedAttempts,
    ]);
    if (env.WORKERS === 'off') return pruned;
    const work = startBackgroundWork(context);
    return {
      ...pruned,
      [Symbol.asyncDispose]: async () => {
        await work[Symbol.asyncDispose]();
        await pruned[Symbol.asyncDispose]();
      },
    };
  },
  createApp,
});
