import { outdatedChanges, withFeed } from '@platform/feed';
import { outdatedKeys } from '@platform/service-kit/idempotency';
import { withPruning } from '@platform/service-kit/pruning';
import { runService } from '@platform/service-kit/service';
import { createApp } from './app.ts';
import { createContext } from './context.ts';
import { processEnv } from './env.ts';

await runService({
  name: 'placeholder-service',
  env: processEnv,
  createContext: (env, parts) =>
    withPruning(withFeed(createContext(env, parts)), [outdatedKeys, outdatedChanges(env.FEED_DAYS)]),
  createApp,
});
