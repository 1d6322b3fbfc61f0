import { runService } from '@platform/service-kit/service';
import { createApp } from './app.ts';
import { createContext } from './context.ts';
import { processEnv } from './env.ts';
import { withMaintenance } from './maintenance.ts';

await runService({
  name: 'consignments',
  env: processEnv,
  createContext: (env, parts) => withMaintenance(createContext(env, parts), env.DATABASE_URL),
  createApp,
});
