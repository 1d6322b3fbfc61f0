import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runProgram, UsageError } from '@platform/program';
import { pnpmScript } from './env.ts';
import { checkResource, wordsOf, type NewService } from './name.ts';
import { newService } from './new-service.ts';

/** The steps that the user must do by hand. */
const nextSteps = ({ name, plural, singular }: NewService): string => `
services/${name} is ready, and is part of the gateway (/v1/${plural}), the deployment and the client. Try it:
  npx -y pnpm@10.34.9 test --project ${name}
  npx -y pnpm@10.34.9 dev

Restart \`dev\` if it is running.

Each ${wordsOf(singular)} has only a name. Add its fields in src/db/tables.ts, src/${plural}, src/demo.ts and
docs/${name}.md, then
  npx -y pnpm@10.34.9 --filter ${name} migrations:generate --name what_changes
  npx -y pnpm@10.34.9 --filter ${name} openapi
  npx -y pnpm@10.34.9 --filter @platform/client generate
services.yaml has the request that the tests of the platform send and the column that they rename ("rehearsal"), and the
purpose and the callers that the portal shows.

Update the pages that describe the services:
  README.md, docs/architecture.md  the number of services, the list and the addresses
  docs/scaling.md                  what replicas need
  CHANGELOG.md                     what the service does
`;

const usage = `new service NAME --resource NOUN [--singular NOUN]: creates a service from a template
The resource is a noun in the plural, such as "parcels" or "cold-rooms". For "shelves", pass --singular shelf as well.`;
const root = join(import.meta.dirname, '../../../..');

await runProgram(usage, (args) => {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { resource: { type: 'string' }, singular: { type: 'string' } },
  });
  const [command, name, ...extra] = positionals;
  const { resource: plural } = values;
  if (command !== 'service' || name === undefined || plural === undefined || extra.length > 0)
    throw new UsageError('pass service NAME --resource NOUN');
  const service = { name, plural, singular: checkResource(root, plural, values.singular) };
  newService(root, service, pnpmScript());
  process.stdout.write(nextSteps(service));
});
