import { outdatedChanges, withFeed } from '@platform/feed';
import { outdatedAttempts, withSubscriptions } from '@platform/outgoing-webhooks';
import { withMaintenance } from '@platform/pagination/maintenance';
import { outdatedKeys } from '@platform/service-kit/idempotency';
import { withPruning } from '@platform/service-kit/pruning';
import { runService } from '@platform/service-kit/service';
import { createApp } from './app.ts';
import { createContext } from './context.ts';
import { directories } from './db/directories.ts';
import { processEnv } from './env.ts';
import { outdatedResults } from './import/queries.ts';

await runService({
  name: 'consignments',
  env: processEnv,
  createContext: (env, parts) =>
    withPruning(
      withSubscriptions(withFeed(withMaintenance(createContext(env, parts), env.DATABASE_URL, directories))),
      [outdatedResults, outdatedKeys, outdatedChanges(env.FEED_DAYS), ...outdatedAttempts],
    ),
  createApp,
});
