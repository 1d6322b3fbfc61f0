/** What nobody but a person can decide, and where it is written. */
export const leftToDo = (name: string): string => `
services/${name} is ready: npx -y pnpm@10.34.9 check, and its tests with
npx -y pnpm@10.34.9 test --project ${name}

Left to do by hand:
  its src/items                  call the room by its noun, and give it what belongs there
  infra/gateway/src/routes.ts    its public addresses: until then only its own port answers
  infra/deploy                   compose.yaml, postgres/10-databases.sh, values/, sharding.yaml: their tests ask for it
  packages/client                scripts/generate.ts and src/services.ts, for a typed client
  infra/portal/src/purposes.ts   what it is for, in a sentence
  docs/${name}.md, docs/architecture.md
`;
