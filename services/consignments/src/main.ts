import { runService } from '@platform/service-kit/service';
import { createApp } from './app.ts';
import { createContext } from './context.ts';
import { processEnv } from './env.ts';
import { tended } from './upkeep.ts';

await runService({
  name: 'consignments',
  env: processEnv(),
  createContext: (env, parts) => tended(createContext(env, parts)),
  createApp,
});
