import { openDatabase } from '@platform/service-kit/db';
import { runMigrations } from '@platform/service-kit/migrate';
import { migrations } from './context.ts';
import { sealingKeyIfSet } from './env.ts';
import { trustKey } from './sealing/queries.ts';

await runMigrations('wallet-operator', migrations, async (url) => {
  const key = sealingKeyIfSet();
  if (key === undefined) return;
  // Only migrations may add a key, so that an intruder with the run-time role cannot sign a forged ledger.
  await using database = openDatabase({ url, name: 'wallet-operator:migrate', max: 1 });
  await trustKey(database.sql, key);
});
