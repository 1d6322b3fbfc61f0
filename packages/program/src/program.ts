import { parseArgs } from 'node:util';
import { complain, say } from './terminal.ts';

/** An error in the arguments. The program prints the message and exits with code 2. */
export class UsageError extends Error {}

const isUsageError = (error: unknown): boolean =>
  error instanceof UsageError ||
  (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));

/** An error and its causes, without their stack traces. */
const lineOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  // If a connection is refused at several addresses, the error has no message.
  const message = error.message || ('code' in error ? String(error.code) : error.name);
  return error.cause instanceof Error ? `${message}: ${lineOf(error.cause)}` : message;
};

/**
 * Runs a program with its arguments. `--help` prints the usage. An error is printed in one line with exit code `failure`, wrong
 * arguments (errors of `parseArgs` and UsageError) with exit code 2. A number that `work` returns is the exit code.
 */
export const runProgram = async (
  usage: string,
  work: (args: string[]) => unknown,
  failure = 1,
): Promise<void> => {
  // pnpm passes the "--" of its caller on to the program.
  const args = process.argv.slice(2).filter((argument) => argument !== '--');
  if (args.includes('--help') || args.includes('-h')) {
    say(usage.trimEnd());
    return;
  }
  try {
    // If the program takes no arguments, any argument is an error: `--chekc` must not migrate.
    if (work.length === 0) parseArgs({ args });
    const code = await work(args);
    if (typeof code === 'number') process.exitCode = code;
  } catch (error) {
    const isUsage = isUsageError(error);
    // Only the first sentence of parseArgs is printed; the rest is about a rare case.
    complain(isUsage ? `${lineOf(error).split('. ', 1)[0]}. --help says more.` : lineOf(error));
    process.exitCode = isUsage ? 2 : failure;
  }
};
