/** The steps that remain to be done by hand, and the files they change. */
export const leftToDo = (name: string): string => `
services/${name} is ready: npx -y pnpm@10.34.9 check, and its tests with
npx -y pnpm@10.34.9 test --project ${name}

Left to do by hand:
  its src/items                  rename it to the resource, and change its fields
  infra/gateway/src/routes.ts    its public paths; until then it answers only on its own port
  infra/deploy                   compose.yaml, postgres/10-databases.sh, values/, sharding.yaml; the tests there fail until it is added
  packages/client                scripts/generate.ts and src/services.ts, for a typed client
  infra/portal/src/purposes.ts   its purpose in one sentence
  docs/${name}.md, docs/architecture.md
`;
