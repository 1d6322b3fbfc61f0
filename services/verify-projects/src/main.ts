import { outdatedChanges, withFeed } from '@platform/feed';
import { withMaintenance } from '@platform/pagination/maintenance';
import { outdatedAttempts, withSubscriptions } from '@platform/outgoing-webhooks';
import { outdatedKeys } from '@platform/service-kit/idempotency';
import { withPruning } from '@platform/service-kit/pruning';
import { runService } from '@platform/service-kit/service';
import { outdatedApiKeys } from './api-keys/queries.ts';
import { createApp } from './app.ts';
import { createContext } from './context.ts';
import { projectDirectory } from './db/directory.ts';
import { processEnv } from './env.ts';

await runService({
  name: 'verify-projects',
  env: processEnv,
  createContext: (env, parts) =>
    withPruning(
      withSubscriptions(
        withFeed(withMaintenance(createContext(env, parts), env.DATABASE_URL, [projectDirectory])),
      ),
      [outdatedApiKeys, outdatedKeys, outdatedChanges(env.FEED_DAYS), ...outdatedAttempts],
    ),
  createApp,
});
