import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runProgram, UsageError } from '@platform/program';
import { say } from '@platform/program/terminal';
import { publicKeysOf } from './keys.ts';
import { expectSaved, readCheckpoints, verifyCheckpoints, verifyEvidence } from './verify.ts';

const usage = `verify-evidence FILE --key KEYS [--checkpoints FILE]…: verifies the evidence of a round, without a database or a network
  --key KEYS           file with the public keys: a JWK, or a saved answer of GET /v1/audit/keys
  --checkpoints FILE   a saved answer of GET /v1/audit/checkpoints; also verifies these checkpoints, and that they include
                       those of the evidence
Exit code 1: not proven.`;

const read = (file: string): string => readFileSync(file, 'utf8');

await runProgram(usage, (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { key: { type: 'string' }, checkpoints: { type: 'string', multiple: true, default: [] } },
  });
  const [file] = positionals;
  if (file === undefined || values.key === undefined)
    throw new UsageError('FILE and --key KEYS are required');
  const keys = publicKeysOf(JSON.parse(read(values.key)));
  const { playerId, roundId, entries, checkpoints } = verifyEvidence(read(file).trimEnd(), keys);
  const saved = values.checkpoints.flatMap((savedFile) => readCheckpoints(read(savedFile)));
  verifyCheckpoints([...saved, ...checkpoints], keys);
  if (values.checkpoints.length > 0) expectSaved(checkpoints, saved);
  say(`proven: round ${roundId} of player ${playerId} (entries: ${entries.length})`);
});
