import { expect, test } from 'vitest';
import { startGateway } from './gateway.ts';
import { freePort } from './ports.ts';

test('Prometheus learns from nginx itself whether it runs, on a port of its own', async () => {
  const metrics = `127.0.0.1:${await freePort()}`;
  await using gateway = await startGateway({ metrics });
  const answer = await fetch(`http://${metrics}/metrics`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4']);
  expect(await answer.text()).toMatch(
    /^# HELP nginx_connections_active .+\n# TYPE nginx_connections_active gauge\nnginx_connections_active [1-9]\d*\n/,
  );
  expect((await fetch(`http://${metrics}/v1/quests`)).status).toBe(404);
  expect((await fetch(`${gateway.url}/metrics`)).status).toBe(404);
  await gateway.stop('SIGKILL');
  await expect(fetch(`http://${metrics}/metrics`)).rejects.toThrow('fetch failed');
});
