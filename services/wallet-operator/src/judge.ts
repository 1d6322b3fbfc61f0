/** `pnpm --filter wallet-operator judge FILE`: judges histories that `certify --history FILE` recorded. Exit code 1: violations. */
import { callersFile } from './env.ts';
import { judge } from './history/judge.ts';
import { readCalls, reportVerdict } from './history/report.ts';

const main = async (): Promise<number> => {
  const [file] = process.argv.slice(2).filter((argument) => argument !== '--');
  if (file === undefined) throw new Error('usage: judge FILE');
  const verdict = judge(await readCalls(callersFile(file)));
  process.stdout.write(`${await reportVerdict(verdict, callersFile(file))}\n`);
  return verdict.violations.length > 0 ? 1 : 0;
};

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 2;
});
