import { createServer } from 'node:http';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { startService } from './harness.ts';
import { startProcess } from './process.ts';

const webhooks = 30;

/** A point of sale that answers nothing before it is released. */
const startHangingPos = async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let asked = 0;
  const server = createServer((_req, res) => {
    asked++;
    void released.then(() => res.writeHead(200, { 'content-type': 'application/json' }).end('{"items":[]}'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    baseUrl: `http://127.0.0.1:${port}/`,
    asked: () => asked,
    release,
    [Symbol.dispose]: () => server.close().closeAllConnections(),
  };
};

test('webhooks of many small values that wait for a provider do not fill the memory', async () => {
  await using service = await startService({ work: false });
  using pos = await startHangingPos();
  const tokens = await Promise.all(
    Array.from({ length: webhooks }, async (_, at) => {
      const credentials = { apiKey: `key-${at}` };
      return (await service.store({ pos: { kind: 'blaze', baseUrl: pos.baseUrl, credentials } }))
        .webhookToken;
    }),
  );
  const variables = { DATABASE_URL: service.databaseUrl, PROVIDER_TIMEOUT_MS: '600000' };
  await using instance = await startProcess(service, variables, ['--max-old-space-size=112']);
  // As many as are parsed. Each takes some megabytes then.
  const values = Array.from({ length: 4_900 }, (_, at) => `{"k${at}":1}`).join(',');
  for (const [at, token] of tokens.entries()) {
    const body = `{"id":"o-${at}","publicKey":"k-${at}","status":"A","x":[${values}]}`;
    const answer = await fetch(`${instance.url}/api/v1/hooks/order_updated/${token}`, {
      method: 'POST',
      body,
    });
    expect(answer.status).toBe(200);
  }
  await expect.poll(pos.asked).toBe(webhooks);
  pos.release();
  await service.settled();
  expect(await service.context.database.sql`select id from orders`).toHaveLength(webhooks);
});
