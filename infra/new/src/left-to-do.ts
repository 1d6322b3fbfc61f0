/** What remains to be done by hand. */
export const leftToDo = (name: string): string => `
services/${name} is ready, and is part of the gateway, the deployment and the client. Try it:
  npx -y pnpm@10.34.9 test --project ${name}
  npx -y pnpm@10.34.9 dev

Its resource is called "items", at /v1/items. Give it a name and fields of its own: rename src/items, its path in
  infra/gateway/src/routes.ts
  infra/gateway/test/addresses.test.ts
and its table and requests in
  infra/deploy/sharding.yaml
  infra/e2e/src/load.ts
  infra/rehearsal/src/clients.ts
  infra/rehearsal/src/next-version.ts

These describe the services in words:
  infra/portal/src/purposes.ts     purpose and callers, shown on the first page of the portal
  README.md, docs/architecture.md  the number of services, the list and the addresses
`;
