/**
 * Encrypts everything that is kept with an older key of SECRETS_KEY again with its first key. Afterwards
 * the older keys can be removed, except for outcomes of payments, which expire after 24 hours.
 *
 *   SECRETS_KEY=<new>,<old> pnpm --filter store-webhooks rotate-secrets
 */
import { createLog } from '@platform/service-kit/log';
import { createMetrics } from '@platform/service-kit/metrics';
import { createContext } from './context.ts';
import { processEnv } from './env.ts';
import { rotateSecrets } from './stores/rotate-secrets.ts';

await using context = await createContext(processEnv(), {
  log: createLog('rotate-secrets', 'warn'),
  metrics: createMetrics(),
});
const { stores, events } = await rotateSecrets(context);
process.stdout.write(
  `encrypted again: credentials of ${stores} stores, addresses of ${events} refused events\n`,
);
