import { outdatedChanges, withFeed } from '@platform/feed';
import { withPruning } from '@platform/service-kit/pruning';
import { runService } from '@platform/service-kit/service';
import { startErasure } from './account/deletion.ts';
import { createApp } from './app.ts';
import { createContext } from './context.ts';
import { processEnv } from './env.ts';
import { startLeftovers } from './lists/leftovers.ts';
import { startMailer } from './mails/mailer.ts';
import { outdated } from './outdated.ts';

await runService({
  name: 'task-manager',
  env: processEnv,
  createContext: async (env, logAndMetrics) => {
    const context = withPruning(withFeed(await createContext(env, logAndMetrics)), [
      ...outdated,
      outdatedChanges(env.FEED_DAYS),
    ]);
    const mailer = startMailer(context);
    if (mailer !== undefined) context.resources.use(mailer);
    context.resources.use(startErasure(context));
    context.resources.use(startLeftovers(context));
    return context;
  },
  createApp,
});
