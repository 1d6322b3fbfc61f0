import { randomInt } from 'node:crypto';
import { UsageError } from '@platform/program';
import { say, complain } from '@platform/program/terminal';
import { recordAndJudge } from '../history/record.ts';
import { exitCodeOf, readCalls, reportVerdict } from '../history/report.ts';
import { judge } from '../history/judge.ts';
import { defineCommand, parseWholeNumber } from './command.ts';
import { readTarget, targetOptions, targetUsage } from './target.ts';

const usage = `record <file> --url <url> --player <id with 1.00 or more> [--player …]: sends concurrent callbacks, records them and checks the answers
${targetUsage}  --seconds <n>          how long to record (30)
  --patience <seconds>   how long a call without a clear answer is retried (60)
  --no-limits            the player has no limits, so a limit cannot explain a refused bet
  --resume <file>        continues an earlier recording: copies it into the new one and uses its transactions again
  --seed <n>             repeats the random choices of an earlier recording
`;

/** Resolves with the exit code of `exitCodeOf`. */
export const recordCommand = defineCommand({
  usage,
  options: {
    ...targetOptions,
    player: { type: 'string', multiple: true, default: [] },
    seconds: { type: 'string', default: '30' },
    patience: { type: 'string', default: '60' },
    'no-limits': { type: 'boolean', default: false },
    resume: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
  },
  run: async (values, [file]) => {
    if (file === undefined) throw new UsageError('a file for the recording is required');
    const { player: players } = values;
    const seconds = parseWholeNumber(values.seconds, 'seconds');
    const seed = parseWholeNumber(values.seed, 'seed');
    const patience = parseWholeNumber(values.patience, 'patience');
    const declared = { noLimits: values['no-limits'] };
    const resumed = values.resume === undefined ? [] : await readCalls(values.resume);
    const target = await readTarget(values, players[0]);
    say(`seed ${seed}`);
    const options = { target, players, seconds, patience, declared, seed, resumed, file };
    const verdict = await recordAndJudge(options);
    say(await reportVerdict(verdict, file));
    return exitCodeOf(verdict);
  },
});

/** Resolves with the exit code of `exitCodeOf`. */
export const checkCommand = defineCommand({
  usage: `check <file> [--no-limits]: checks a recording again; --no-limits as in record\n`,
  options: { 'no-limits': { type: 'boolean', default: false } },
  run: async (values, [file]) => {
    if (file === undefined) throw new UsageError('the file of a recording is required');
    const verdict = judge(await readCalls(file), { noLimits: values['no-limits'] });
    say(await reportVerdict(verdict, file));
    if (verdict.histories === verdict.notJudged.length)
      complain('No history could be judged; record one with "record FILE".');
    return exitCodeOf(verdict);
  },
});
