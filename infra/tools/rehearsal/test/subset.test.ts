import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { rehearseSubset } from '../src/checks.ts';
import { documentedCommands } from '../src/documented.ts';

test('two services are deployed alone with the commands of deploy.md, and each wrong response is reported', async () => {
  const status: Record<string, number> = { '/v1/quests': 200, '/v1/players': 502, '/v1/stores': 401 };
  await using server = createServer((request, response) => {
    response.statusCode = status[request.url ?? ''] ?? 404;
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const executed: string[] = [];
  const gateway = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const faults = await rehearseSubset(gateway, {
    prepared: '/prepared',
    compose: async (command) => executed.push(command).toString(),
    runDocumented: async (page, heading, _variables, edits) =>
      executed.push(await documentedCommands(page, heading, edits)).toString(),
  });
  expect(faults).toEqual([
    'store-webhooks responds with 401 when two services are deployed',
    'wallet-operator responds with 502 when two services are deployed',
  ]);
  const [down, commands] = executed;
  expect(down).toBe('down');
  expect(commands?.split('\n').filter((line) => !line.startsWith('#'))).toEqual([
    'cd infra/deploy',
    'export SERVICES=quest-service,wallet-operator',
    "npx -y pnpm@10.34.9 prepare-compose --out '/prepared'",
    'docker compose up --wait',
    '',
  ]);
});
