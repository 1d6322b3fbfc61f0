export {
  cloneDatabase,
  cloneServiceDatabase,
  inTestSchema,
  migrationsOf,
  type TestDatabase,
} from './database.ts';
export { captureLog } from './log.ts';
export { serve, type RunningServer } from './server.ts';
export { createHarness, type Harness, type StartOptions, type TestInstance } from './harness.ts';
export { seededRandom } from './random.ts';
export { container, startServiceProcess, type ServiceProcess } from './process.ts';
export { startProxy, type ProxiedConnection, type Proxy } from './proxy.ts';
export { recordPlans, type PlanRecorder } from './plans.ts';
