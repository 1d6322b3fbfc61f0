/**
 * Encrypts again with the first key of SECRETS_KEY what an older key encrypted. Afterwards the older keys
 * can be removed. Exits with 1 if a value cannot be decrypted.
 *
 *   SECRETS_KEY=<new>,<old> pnpm --filter store-webhooks rotate-secrets
 */
import { createLog } from '@platform/service-kit/log';
import { createMetrics } from '@platform/service-kit/metrics';
import { createContext } from './context.ts';
import { processEnv } from './env.ts';
import { rotateSecrets } from './sealed-values.ts';

await using context = await createContext(processEnv(), {
  log: createLog('rotate-secrets', 'warn'),
  metrics: createMetrics(),
});
const { stores, events, payments, unreadable } = await rotateSecrets(context);
process.stdout.write(
  `encrypted again: credentials of ${stores} stores, addresses of ${events} refused events, results of ${payments} payments\n`,
);
if (unreadable > 0) {
  process.stderr.write(
    `no key of SECRETS_KEY decrypts ${unreadable} values; add the missing key and repeat\n`,
  );
  process.exitCode = 1;
}
