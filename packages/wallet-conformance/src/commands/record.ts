import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { UsageError } from '@platform/program';
import { say, complain } from '@platform/program/terminal';
import { recordAndJudge } from '../history/record.ts';
import { exitCodeOf, readCalls, reportVerdict } from '../history/report.ts';
import { judge } from '../history/judge.ts';
import { countOf, targetOf, targetOptions, targetUsage, type Command } from './target.ts';

const usage = `record <file> --url <url> --player <id with 1.00 or more> [--player …]: sends concurrent callbacks, records them and judges the answers
${targetUsage}  --seconds <n>          how long to record (30)
  --patience <seconds>   how long a call without a clear answer is repeated (60)
  --no-limits            the player has no limits, so that each refused bet must be explained otherwise
  --resume <file>        continues an earlier recording, which becomes a part of this one: its transactions are named again
  --seed <n>             repeats the choices of an earlier recording
`;

/** Exit codes of `exitCodeOf`. */
const run = async (args: string[]): Promise<number> => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      ...targetOptions,
      player: { type: 'string', multiple: true, default: [] },
      seconds: { type: 'string', default: '30' },
      patience: { type: 'string', default: '60' },
      'no-limits': { type: 'boolean', default: false },
      resume: { type: 'string' },
      seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    },
  });
  const [file] = positionals;
  if (file === undefined) throw new UsageError('a file for the recording is needed');
  const [seconds, seed] = [countOf(values.seconds, 'seconds'), countOf(values.seed, 'seed')];
  const { player: players } = values;
  const patience = countOf(values.patience, 'patience');
  const declared = { noLimits: values['no-limits'] };
  const resumed = values.resume === undefined ? [] : await readCalls(values.resume);
  const target = await targetOf(values, players[0]);
  say(`seed ${seed}`);
  const options = { target, players, seconds, patience, declared, seed, resumed, file };
  const verdict = await recordAndJudge(options);
  say(await reportVerdict(verdict, file));
  return exitCodeOf(verdict);
};

export const recordCommand: Command = { usage, run };

const checkUsage = `check <file> [--no-limits]: judges a recording again; --no-limits as in record\n`;

/** Exit codes of `exitCodeOf`. */
const runCheck = async (args: string[]): Promise<number> => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { 'no-limits': { type: 'boolean', default: false } },
  });
  const [file] = positionals;
  if (file === undefined) throw new UsageError('a recorded file is needed');
  const verdict = judge(await readCalls(file), { noLimits: values['no-limits'] });
  say(await reportVerdict(verdict, file));
  if (verdict.histories === verdict.unusable.length)
    complain('No history could be judged; record one with "record FILE".');
  return exitCodeOf(verdict);
};

export const checkCommand: Command = { usage: checkUsage, run: runCheck };
