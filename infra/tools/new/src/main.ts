import { runProgram, UsageError } from '@platform/program';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pnpmScript } from './env.ts';
import { leftToDo } from './left-to-do.ts';
import { checkResource } from './name.ts';
import { newService } from './new-service.ts';

const usage = `new service NAME --resource NOUN [--singular NOUN]: creates a service from a template
The resource is a noun in the plural, such as "parcels" or "cold-rooms". "shelves" needs its singular, too: --singular shelf.`;
const root = join(import.meta.dirname, '../../../..');

await runProgram(usage, (args) => {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { resource: { type: 'string' }, singular: { type: 'string' } },
  });
  const [kind, name, ...more] = positionals;
  const { resource: plural, singular: given } = values;
  if (kind !== 'service' || name === undefined || plural === undefined || more.length > 0)
    throw new UsageError('service NAME --resource NOUN are needed');
  const service = { name, plural, singular: checkResource(root, plural, given) };
  newService(root, service, pnpmScript());
  process.stdout.write(leftToDo(service));
});
