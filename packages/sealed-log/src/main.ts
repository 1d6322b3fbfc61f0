/**
 * `pnpm verify-evidence FILE --key KEYS [--checkpoints FILE]…`: verifies evidence of a round
 * with public keys (a JWK or the saved answer of GET /v1/audit/keys), without a database or a network. With checkpoints
 * (saved answers of GET /v1/audit/checkpoints) it also checks these, and that those of the evidence are among them.
 * Exit code 1: not proven.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { complain, say } from '@platform/wallet-protocol/terminal';
import { publicKeysOf } from './keys.ts';
import { expectKept, readCheckpoints, verifyCheckpoints, verifyEvidence } from './verify.ts';

const read = (file: string): string => readFileSync(file, 'utf8');

const main = (): string => {
  const { values, positionals } = parseArgs({
    // pnpm passes the "--" of its caller on.
    args: process.argv.slice(2).filter((argument) => argument !== '--'),
    allowPositionals: true,
    options: { key: { type: 'string' }, checkpoints: { type: 'string', multiple: true, default: [] } },
  });
  const [file] = positionals;
  if (file === undefined || values.key === undefined)
    throw new Error('usage: verify-evidence FILE --key KEYS [--checkpoints FILE]…');
  const keys = publicKeysOf(JSON.parse(read(values.key)));
  const { playerId, roundId, entries, checkpoints } = verifyEvidence(read(file).trimEnd(), keys);
  const kept = values.checkpoints.flatMap((saved) => readCheckpoints(read(saved)));
  verifyCheckpoints([...kept, ...checkpoints], keys);
  if (values.checkpoints.length > 0) expectKept(checkpoints, kept);
  return `proven: round ${roundId} of player ${playerId} (entries: ${entries.length})`;
};

try {
  say(main());
} catch (error) {
  complain(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
