/** `pnpm --filter wallet-operator judge FILE`: judges histories that `certify --history FILE` recorded; exit codes of `exitCodeOf`. */
import { callersFile } from './env.ts';
import { judge } from './history/judge.ts';
import { exitCodeOf, readCalls, reportVerdict } from './history/report.ts';

const main = async (): Promise<number> => {
  const [file] = process.argv.slice(2).filter((argument) => argument !== '--');
  if (file === undefined) throw new Error('usage: judge FILE');
  const verdict = judge(await readCalls(callersFile(file)));
  process.stdout.write(`${await reportVerdict(verdict, callersFile(file))}\n`);
  if (verdict.histories === verdict.unusable.length)
    process.stderr.write('No history could be judged; record one with "certify --history FILE".\n');
  return exitCodeOf(verdict);
};

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 2;
});
