import { runProgram } from '@platform/program';
import { createLog } from '@platform/service-kit/log';
import { createMetrics } from '@platform/service-kit/metrics';
import { createContext } from './context.ts';
import { processEnv } from './env.ts';
import { rotateSecrets } from './sealed-values.ts';

const usage = `SECRETS_KEY=<new>,<old> rotate-secrets: encrypts the values of older keys again with the first key of SECRETS_KEY
Afterwards the older keys can be removed. Uses the settings of the service. Exit code 1: a value cannot be decrypted.`;

await runProgram(usage, async () => {
  await using context = await createContext(processEnv(), {
    log: createLog('rotate-secrets', 'warn'),
    metrics: createMetrics(),
  });
  const { stores, events, payments, unreadable } = await rotateSecrets(context);
  process.stdout.write(
    `encrypted again: credentials of ${stores} stores, addresses of ${events} refused events, results of ${payments} payments\n`,
  );
  if (unreadable > 0)
    throw new Error(`no key of SECRETS_KEY decrypts ${unreadable} values; add the missing key and repeat`);
});
