import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { UsageError } from '@platform/program';

export type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: true }>
>['values'];

/** A command of the program. `run` resolves with the exit code; if it has no second parameter, operands are errors. */
interface Definition<Options extends ParseArgsOptionsConfig> {
  usage: string;
  options: Options;
  run(values: Values<Options>, operands: string[]): Promise<number>;
}

/** Defines a command that parses its arguments. */
export const defineCommand = <const Options extends ParseArgsOptionsConfig>({
  usage,
  options,
  run,
}: Definition<Options>) => ({
  usage,
  run: (args: string[]): Promise<number> => {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: run.length > 1 });
    return run(values, positionals);
  },
});

export type Command = ReturnType<typeof defineCommand>;

/** Parses a whole number of at most ten digits. Throws a UsageError that names the option. */
export const parseWholeNumber = (text: string, option: string): number => {
  if (!/^\d{1,10}$/.test(text)) throw new UsageError(`--${option} must be a whole number`);
  return Number(text);
};
