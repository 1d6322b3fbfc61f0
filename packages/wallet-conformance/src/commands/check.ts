import type { Command } from './target.ts';
import { judge } from '../history/judge.ts';
import { exitCodeOf, readCalls, reportVerdict } from '../history/report.ts';
import { complain, say } from '@platform/wallet-protocol/terminal';

const usage = `check <file>: judges a recording again\n`;

/** Exit codes of `exitCodeOf`. */
const run = async ([file]: string[]): Promise<number> => {
  if (file === undefined) throw new Error('a recorded file is needed');
  const verdict = judge(await readCalls(file));
  say(await reportVerdict(verdict, file));
  if (verdict.histories === verdict.unusable.length)
    complain('No history could be judged; record one with "record FILE".');
  return exitCodeOf(verdict);
};

export const checkCommand: Command = { usage, run };
