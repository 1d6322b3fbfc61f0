/** `pnpm --filter wallet-operator judge FILE`: judges histories that `certify --history FILE` recorded. Exit code 1: violations; 2: nothing could be judged. */
import { callersFile } from './env.ts';
import { judge } from './history/judge.ts';
import { readCalls, reportVerdict } from './history/report.ts';

const main = async (): Promise<number> => {
  const [file] = process.argv.slice(2).filter((argument) => argument !== '--');
  if (file === undefined) throw new Error('usage: judge FILE');
  const verdict = judge(await readCalls(callersFile(file)));
  process.stdout.write(`${await reportVerdict(verdict, callersFile(file))}\n`);
  if (verdict.violations.length > 0) return 1;
  if (verdict.histories > verdict.unusable.length) return 0;
  process.stderr.write('No history could be judged; record one with "certify --history FILE".\n');
  return 2;
};

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 2;
});
