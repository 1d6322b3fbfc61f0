/**
 * `pnpm --filter wallet-operator verify-seals --key KEYS`: compares the whole ledger with its checkpoints, and these with
 * their signatures (KEYS: a JWK, or a saved answer of GET /v1/audit/keys that you trust). With `--checkpoints FILE` (saved
 * answers of GET /v1/audit/checkpoints) it also compares the checkpoints with the saved ones.
 * Exit code 1 when something differs.
 */
import { databaseUrl } from '@platform/service-kit/env';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { openSlowDatabase } from './db/slow-connection.ts';
import { callersFile } from './env.ts';
import { publicKeysOf } from '@platform/sealed-log/keys';
import { verifySeals } from './sealing/verify.ts';
import { readCheckpoints } from '@platform/sealed-log/verify';
import { complain, say } from '@platform/wallet-protocol/terminal';

const { values } = parseArgs({
  options: { key: { type: 'string' }, checkpoints: { type: 'string', multiple: true, default: [] } },
});
if (values.key === undefined) throw new Error('usage: verify-seals --key KEYS [--checkpoints FILE]…');
const read = (file: string): string => readFileSync(callersFile(file), 'utf8');
const keys = publicKeysOf(JSON.parse(read(values.key)));
const kept = values.checkpoints.flatMap((file) => readCheckpoints(read(file)));
await using database = openSlowDatabase(databaseUrl());
try {
  const sealed = await verifySeals(database.sql, keys, kept);
  say(`nothing was changed (sealed entries: ${sealed}, kept checkpoints: ${kept.length})`);
} catch (error) {
  complain(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
