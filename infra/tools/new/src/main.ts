import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pnpmScript } from './env.ts';
import { leftToDo } from './left-to-do.ts';
import { checkResource } from './name.ts';
import { newService } from './new-service.ts';

const USAGE = `Usage: npx -y pnpm@10.34.9 new service NAME --resource NOUN [--singular NOUN]
The resource is a noun in the plural, such as "parcels" or "cold-rooms". "shelves" needs its singular, too: --singular shelf.
`;
const root = join(import.meta.dirname, '../../../..');

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      resource: { type: 'string' },
      singular: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const [kind, name, ...more] = positionals;
  const { resource: plural, singular: given, help } = values;
  if (help) {
    process.stdout.write(USAGE);
  } else {
    if (kind !== 'service' || name === undefined || plural === undefined || more.length > 0)
      throw new Error(USAGE);
    const service = { name, plural, singular: checkResource(root, plural, given) };
    newService(root, service, pnpmScript());
    process.stdout.write(leftToDo(service));
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
