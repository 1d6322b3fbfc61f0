import { withMaintenance } from '@platform/pagination/maintenance';
import { runService } from '@platform/service-kit/service';
import { createApp } from './app.ts';
import { createContext } from './context.ts';
import { projectDirectory } from './db/directory.ts';
import { processEnv } from './env.ts';

await runService({
  name: 'verify-projects',
  env: processEnv,
  createContext: (env, parts) =>
    withMaintenance(createContext(env, parts), env.DATABASE_URL, [projectDirectory]),
  createApp,
});
