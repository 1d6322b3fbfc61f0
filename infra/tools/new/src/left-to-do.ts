import { wordsOf, type NewService } from './name.ts';

/** What remains to be done by hand. */
export const leftToDo = ({ name, plural, singular }: NewService): string => `
services/${name} is ready, and is part of the gateway (/v1/${plural}), the deployment and the client. Try it:
  npx -y pnpm@10.34.9 test --project ${name}
  npx -y pnpm@10.34.9 dev

Stop and start \`dev\` when it runs already.

Each ${wordsOf(singular)} has a name only. Give it fields of its own: src/db/tables.ts, src/${plural}, src/demo.ts and
docs/${name}.md, then
  npx -y pnpm@10.34.9 --filter ${name} migrations:generate --name what_changes
  npx -y pnpm@10.34.9 --filter ${name} openapi
  npx -y pnpm@10.34.9 --filter @platform/client generate
The tests of the platform send and rename its field "name":
  infra/tools/e2e/src/load.ts
  infra/tools/rehearsal/src/next-version.ts

These describe the services in words:
  infra/portal/src/purposes.ts     purpose and callers, shown on the first page of the portal
  README.md, docs/architecture.md  the number of services, the list and the addresses
  CHANGELOG.md                     what the service does
`;
