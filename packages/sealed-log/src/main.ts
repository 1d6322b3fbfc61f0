import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runProgram, UsageError } from '@platform/program';
import { say } from '@platform/program/terminal';
import { publicKeysOf } from './keys.ts';
import { expectKept, readCheckpoints, verifyCheckpoints, verifyEvidence } from './verify.ts';

const usage = `verify-evidence FILE --key KEYS [--checkpoints FILE]…: verifies evidence of a round, without a database or a network
  --key KEYS           public keys: a JWK, or the saved answer of GET /v1/audit/keys
  --checkpoints FILE   also verifies these saved answers of GET /v1/audit/checkpoints, and that those of the evidence are among them
Exit code 1: not proven.`;

const read = (file: string): string => readFileSync(file, 'utf8');

await runProgram(usage, (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { key: { type: 'string' }, checkpoints: { type: 'string', multiple: true, default: [] } },
  });
  const [file] = positionals;
  if (file === undefined || values.key === undefined) throw new UsageError('FILE and --key KEYS are needed');
  const keys = publicKeysOf(JSON.parse(read(values.key)));
  const { playerId, roundId, entries, checkpoints } = verifyEvidence(read(file).trimEnd(), keys);
  const kept = values.checkpoints.flatMap((saved) => readCheckpoints(read(saved)));
  verifyCheckpoints([...kept, ...checkpoints], keys);
  if (values.checkpoints.length > 0) expectKept(checkpoints, kept);
  say(`proven: round ${roundId} of player ${playerId} (entries: ${entries.length})`);
});
