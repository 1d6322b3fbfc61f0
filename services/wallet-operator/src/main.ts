import { outdatedKeys } from '@platform/service-kit/idempotency';
import { withPruning } from '@platform/service-kit/pruning';
import { runService } from '@platform/service-kit/service';
import { createApp } from './app.ts';
import { createContext } from './context.ts';
import { processEnv } from './env.ts';
import { ScopeMismatch } from './ledger/ledger.ts';
import { outdatedLaunches } from './accounts/launches/queries.ts';
import { outdatedSessions } from './accounts/sessions.ts';
import { keepRefusalDays } from './reporting/refusals.ts';

await runService({
  name: 'wallet-operator',
  env: processEnv,
  createContext: async (env, parts) => {
    const context = createContext(env, parts);
    await context.ledger.claimScope().catch((err: unknown) => {
      if (err instanceof ScopeMismatch) throw err;
      // The database is unavailable. The first batch checks the scope again before it writes anything.
      parts.log.warn(
        { err },
        'TRANSACTION_ID_SCOPE could not be checked yet; the first batch checks it again',
      );
    });
    keepRefusalDays(context);
    return withPruning(context, [outdatedSessions(env), outdatedLaunches(env), outdatedKeys]);
  },
  createApp,
});
