import { join } from 'node:path';
import { pnpmScript } from './env.ts';
import { leftToDo } from './left-to-do.ts';
import { newService } from './new-service.ts';

const [kind, name, ...more] = process.argv.slice(2);

try {
  if (kind !== 'service' || name === undefined || more.length > 0) {
    throw new Error('Usage: npx -y pnpm@10.34.9 new service NAME');
  }
  newService(join(import.meta.dirname, '../../..'), name, pnpmScript());
  process.stdout.write(leftToDo(name));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
