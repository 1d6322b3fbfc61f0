import { runService } from '@platform/service-kit/service';
import { createApp } from './app.ts';
import { createContext } from './context.ts';
import { processEnv } from './env.ts';

await runService({
  name: 'store-webhooks',
  env: processEnv(),
  createContext: async (env, parts) => {
    const context = await createContext(env, parts);
    await context.inbox.spool.recover();
    return context;
  },
  createApp,
});
