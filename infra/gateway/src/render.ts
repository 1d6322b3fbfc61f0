import { readArguments, usage } from './arguments.ts';
import { writeConfig } from './files.ts';

try {
  const asked = readArguments(process.argv.slice(2));
  process.stdout.write(asked ? `${await writeConfig(asked.out, asked.options)}\n` : usage);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  process.exitCode = 2;
}
