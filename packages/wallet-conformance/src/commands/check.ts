import { UsageError } from '@platform/program';
import { parseArgs } from 'node:util';
import type { Command } from './target.ts';
import { judge } from '../history/judge.ts';
import { exitCodeOf, readCalls, reportVerdict } from '../history/report.ts';
import { complain, say } from '@platform/program/terminal';

const usage = `check <file> [--no-limits]: judges a recording again; --no-limits as in record\n`;

/** Exit codes of `exitCodeOf`. */
const run = async (args: string[]): Promise<number> => {
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

export const checkCommand: Command = { usage, run };
