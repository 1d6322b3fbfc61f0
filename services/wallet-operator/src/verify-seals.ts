import { databaseUrl } from '@platform/service-kit/env';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { openSlowDatabase } from './db/slow-connection.ts';
import { callersFile } from './env.ts';
import { publicKeysOf } from '@platform/sealed-log/keys';
import { verifySeals } from './sealing/verify.ts';
import { readCheckpoints } from '@platform/sealed-log/verify';
import { runProgram, UsageError } from '@platform/program';
import { say } from '@platform/program/terminal';

const usage = `verify-seals --key KEYS [--checkpoints FILE]…: compares the whole ledger with its checkpoints
  --key KEYS           file with the public keys: a JWK, or a saved answer of GET /v1/audit/keys that you trust
  --checkpoints FILE   a saved answer of GET /v1/audit/checkpoints; also compares the checkpoints with it
The database is that of DATABASE_URL, else that of the local stack. Exit code 1: something differs.`;

const read = (file: string): string => readFileSync(callersFile(file), 'utf8');

await runProgram(usage, async (args) => {
  const { values } = parseArgs({
    args,
    options: { key: { type: 'string' }, checkpoints: { type: 'string', multiple: true, default: [] } },
  });
  if (values.key === undefined) throw new UsageError('--key KEYS is required');
  const keys = publicKeysOf(JSON.parse(read(values.key)));
  const saved = values.checkpoints.flatMap((file) => readCheckpoints(read(file)));
  await using database = openSlowDatabase(databaseUrl('wallet-operator'));
  const sealed = await verifySeals(database.sql, keys, saved);
  say(`nothing was changed (sealed entries: ${sealed}, saved checkpoints: ${saved.length})`);
});
