import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runProgram, UsageError } from '@platform/program';
import { pnpmScript } from './env.ts';
import { checkResource, wordsOf, type NewService } from './name.ts';
import { newService } from './new-service.ts';

/** What remains to be done by hand. */
const leftToDo = ({ name, plural, singular }: NewService): string => `
services/${name} is ready, and is part of the gateway (/v1/${plural}), the deployment and the client. Try it:
  npx -y pnpm@10.34.9 test --project ${name}
  npx -y pnpm@10.34.9 dev

Stop and start \`dev\` when it runs already.

Each ${wordsOf(singular)} has a name only. Give it fields of its own: src/db/tables.ts, src/${plural}, src/demo.ts and
docs/${name}.md, then
  npx -y pnpm@10.34.9 --filter ${name} migrations:generate --name what_changes
  npx -y pnpm@10.34.9 --filter ${name} openapi
  npx -y pnpm@10.34.9 --filter @platform/client generate
services.yaml says what the tests of the platform send to the service and which column they rename ("rehearsal"), and the
purpose and the callers that the portal shows.

These describe the services in words:
  README.md, docs/architecture.md  the number of services, the list and the addresses
  docs/scaling.md                  what replicas need
  CHANGELOG.md                     what the service does
`;

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
