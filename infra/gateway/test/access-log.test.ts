import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, test, onTestFinished } from 'vitest';
import { services } from '../src/addresses.ts';
import { startGateway, freePort, type Entry } from './gateway.ts';
import { request } from './http.ts';
import { startService } from './service.ts';

test('nginx serves its own metrics on a separate port, so that Prometheus sees whether it runs', async () => {
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

test('with requestLog: failures only failed requests are logged', async () => {
  await using service = await startService(({ url }, response) => {
    response.statusCode = Number(new URL(url, 'http://a').searchParams.get('status'));
    response.end();
  });
  await using gateway = await startGateway({
    upstreams: { 'quest-service': service.address },
    requestLog: 'failures',
  });
  for (const status of [200, 204, 304, 400, 404, 500, 503])
    await request(gateway.port, `/v1/quests?status=${status}`);
  const { 'access.log': text = '' } = await gateway.logs();
  const entries = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Entry);
  // The last entry is the request of logs(), to an address that does not exist.
  expect(entries.map(({ status }) => status)).toEqual([400, 404, 500, 503, 404]);
});

test.each(['POST', 'DELETE'])('a failed %s is logged with its method', async (method) => {
  await using gateway = await startGateway({
    upstreams: { 'quest-service': `127.0.0.1:${await freePort()}` },
  });
  await request(gateway.port, '/v1/quests', method, ['Content-Length: 0', 'X-Request-Id: failed']);
  expect(await gateway.entry('failed')).toMatchObject({ method, status: 503 });
});

test('requests for documents of a service are logged with their whole path, but without the query', async () => {
  await using gateway = await startGateway();
  const documents = services.flatMap((service) => [
    `/docs/status/${service}`,
    `/docs/ops/summary/${service}`,
    `/openapi/${service}.json`,
  ]);
  for (const path of documents)
    for (const target of [path, `${path}?next=/api/v1/hooks/order_updated/x`])
      await request(gateway.port, target);
  const { 'access.log': text = '' } = await gateway.logs();
  const paths = text
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as Entry)['path']);
  // The last entry is the request of logs().
  expect(paths.slice(0, -1)).toEqual(documents.flatMap((path) => [path, path]));
});

test('trace_id and upstream fields are logged only if they differ from the other fields', async () => {
  await using service = await startService();
  const closed = `127.0.0.1:${await freePort()}`;
  await using gateway = await startGateway({
    upstreams: { 'quest-service': service.address, consignments: [closed, service.address] },
  });
  const trace = '0af7651916cd43dd8448eb211c80319c';
  const fields = ['time', 'requestId', 'client', 'method', 'path', 'status', 'service', 'upstream'];
  const lastFields = ['seconds', 'userAgent'];
  const retryFields = ['upstreamStatus', 'upstreamSeconds'];
  const lineOf = async (path: string, ...headers: string[]): Promise<Entry> => {
    const { headers: responseHeaders } = await request(gateway.port, path, 'GET', headers);
    return gateway.entry(responseHeaders['x-request-id']?.[0] ?? '');
  };
  expect(Object.keys(await lineOf('/v1/quests'))).toEqual([...fields, ...lastFields]);
  expect(Object.keys(await lineOf('/nowhere'))).toEqual([...fields, ...lastFields]);
  const traced = await lineOf('/v1/quests', `traceparent: 00-${trace}-b7ad6b7169203331-01`);
  expect(traced).toMatchObject({ trace_id: trace });
  expect(Object.keys(traced).toSorted()).toEqual([...fields, ...lastFields, 'trace_id'].toSorted());
  // One of two requests goes to the closed port first.
  const lines = [await lineOf('/v1/consignments'), await lineOf('/v1/consignments')];
  expect(lines.filter((line) => 'upstreamStatus' in line)).toHaveLength(1);
  const retried = lines.find((line) => retryFields.every((name) => name in line));
  expect(retried).toMatchObject({
    status: 200,
    upstreamStatus: '502, 200',
    upstream: `${closed}, ${service.address}`,
  });
});

test('about 10% of the requests that a limit refuses are logged, and all other failures; metrics count all', async () => {
  const telemetry = createSocket('udp4').bind(0, '127.0.0.1');
  onTestFinished(() => void telemetry.close());
  await once(telemetry, 'listening');
  const countedStatuses: number[] = [];
  telemetry.on('message', (line) => countedStatuses.push(Number(/"status":(\d+)/.exec(String(line))?.[1])));
  await using service = await startService(({ url }, response) => {
    response.statusCode = url.includes('missing') ? 404 : 200;
    response.end();
  });
  await using gateway = await startGateway({
    upstreams: { 'quest-service': service.address, 'store-webhooks': service.address },
    rateLimit: { perSecond: 1, burst: 1 },
    telemetry: `127.0.0.1:${telemetry.address().port}`,
  });
  let refused = 0;
  for (let sent = 0; sent < 300; sent++)
    refused += (await request(gateway.port, '/v1/quests')).status === 429 ? 1 : 0;
  // Webhooks have no rate limit.
  for (let sent = 0; sent < 20; sent++)
    await request(gateway.port, '/api/v1/hooks/missing/token', 'POST', ['Content-Length: 0']);
  const { 'access.log': text = '' } = await gateway.logs();
  const logged = (status: number) =>
    text.split('\n').filter((line) => line.includes(`"status":${status},`)).length;
  expect(refused).toBeGreaterThan(250);
  expect(logged(429)).toBeGreaterThan(0);
  expect(logged(429)).toBeLessThan(refused / 3);
  expect(logged(404)).toBeGreaterThanOrEqual(20);
  const countOf = (status: number) => countedStatuses.filter((counted) => counted === status).length;
  await expect.poll(() => countOf(429)).toBe(refused);
});

test('a log line has at most 1,500 bytes, whatever a client sends', async () => {
  await using gateway = await startGateway();
  const agents = ['\u0001', '"', Buffer.from('é').toString('latin1'), '\\'].map((character) =>
    character.repeat(4_000),
  );
  const paths = ['/v1/quests', `/v1/quests${'/a'.repeat(3_000)}`, `/nowhere${'/%01'.repeat(1_500)}`];
  const method = 'X'.repeat(2_000);
  for (const agent of agents)
    for (const path of paths) await request(gateway.port, path, 'GET', [`User-Agent: ${agent}`]);
  await request(gateway.port, '/v1/quests', method);
  const { 'access.log': text = '' } = await gateway.logs();
  const lines = text.trimEnd().split('\n');
  expect(lines.length).toBeGreaterThanOrEqual(agents.length * paths.length);
  expect(lines.map((line) => Buffer.byteLength(line)).filter((length) => length > 1_500)).toEqual([]);
  const loggedAgents = new Set(lines.map((line) => (JSON.parse(line) as Entry)['userAgent']));
  expect(loggedAgents).toContain('é'.repeat(200));
});
