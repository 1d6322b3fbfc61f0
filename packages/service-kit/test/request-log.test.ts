import { expect, test } from 'vitest';
import { holdLock, startFixture, waitForLock } from './harness.ts';

/** Sends three requests: a successful one, one for an unknown path and one that causes a server error. */
const requestLines = async (variables: Record<string, string>) => {
  await using fixture = await startFixture(variables);
  const { url, lines } = fixture;
  for (const path of ['/openapi.json?token=secret', '/v1/nothing', '/v1/broken'])
    await fetch(url + path, { headers: { Authorization: 'Bearer secret', 'X-Request-Id': 'mine' } });
  const finishedRequests = () =>
    lines.map((line) => JSON.parse(line)).filter(({ status }) => status !== undefined);
  await expect.poll(() => finishedRequests().at(-1)?.status).toBe(500);
  return finishedRequests();
};

test('each request has one line with its id and path, without query and headers', async () => {
  const lines = await requestLines({});
  expect(lines.map(({ status, level, msg }) => [status, level, msg])).toEqual([
    [200, 'info', 'answered'],
    [404, 'info', 'answered'],
    [500, 'error', 'failed'],
  ]);
  expect(lines[0]).toMatchObject({
    requestId: 'mine',
    method: 'GET',
    path: '/openapi.json',
    ms: expect.any(Number),
  });
  expect(JSON.stringify(lines)).not.toContain('secret');
});

test('a token that is sent to a wrong path is not logged', async () => {
  await using fixture = await startFixture({});
  const token = 'a'.repeat(43);
  await fetch(`${fixture.url}/v1/${token}/x`);
  await expect.poll(() => fixture.lines.join('')).toContain('"path":"/v1/***/x"');
  expect(fixture.lines.join('')).not.toContain(token);
});

test('the line of a problem has its code, and a refusal due to overload is not an error', async () => {
  const limits = { DATABASE_POOL: '1', DATABASE_WAIT_MS: '50' };
  await using fixture = await startFixture(limits);
  const { url, lines, context } = fixture;
  await using lock = await holdLock(fixture.database.url);
  const held = waitForLock(context.database.sql).execute();
  expect((await fetch(`${url}/v1/notes/one`)).status).toBe(503);
  await lock.release();
  await held;
  expect((await fetch(`${url}/v1/notes/one`)).status).toBe(404);
  await context.database[Symbol.asyncDispose]();
  expect((await fetch(`${url}/v1/notes/one`)).status).toBe(503);
  const finishedRequests = () =>
    lines.map((line) => JSON.parse(line)).filter(({ status }) => status !== undefined);
  await expect.poll(() => finishedRequests().length).toBe(3);
  expect(finishedRequests().map(({ status, code, level, msg }) => [status, code, level, msg])).toEqual([
    [503, 'too_busy', 'info', 'refused'],
    [404, 'not_found', 'info', 'answered'],
    [503, 'database_unavailable', 'error', 'failed'],
  ]);
  const errors = lines.filter((line) => line.includes('"level":"error"'));
  expect(errors).toHaveLength(2);
  expect(errors.join('')).not.toContain('too_busy');
});

test('with REQUEST_LOG=failures successful requests have no line', async () => {
  const lines = await requestLines({ REQUEST_LOG: 'failures' });
  expect(lines.map(({ status }) => status)).toEqual([404, 500]);
});

test('probes have a line only when they fail', async () => {
  await using fixture = await startFixture();
  const { url, lines, context } = fixture;
  for (const path of ['/livez', '/readyz', '/metrics']) expect((await fetch(url + path)).status).toBe(200);
  context.health.draining = true;
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  await expect.poll(() => lines.filter((line) => line.includes('"status":'))).toHaveLength(1);
  expect(lines.join('')).toContain('"status":503');
});

test('background work is notified of each request that may have changed data, and of no other', async () => {
  await using fixture = await startFixture();
  const { url, context } = fixture;
  let changes = 0;
  context.changed = () => void changes++;
  const json = { 'Content-Type': 'application/json' };
  const post = (body: string) => fetch(`${url}/v1/notes`, { method: 'POST', headers: json, body });
  expect((await post('{"id":"')).status).toBe(400);
  expect((await fetch(`${url}/livez`)).status).toBe(200);
  expect((await post('{"id":"n-1","words":"Water the plants"}')).status).toBe(201);
  await expect.poll(() => changes).toBe(1);
});

test.each(['/nothing', '/v1/notes/none'])(
  'repeated refusals at %s have a bounded number of lines',
  async (path) => {
    const fixture = await startFixture();
    for (let sent = 0; sent < 50; sent++)
      await fetch(fixture.url + path, {
        headers: { 'X-Forwarded-For': sent % 2 ? '192.0.2.1' : '192.0.2.2' },
      });
    await fixture[Symbol.asyncDispose]();
    const lines = fixture.lines.map((line) => JSON.parse(line));
    expect(lines.filter(({ status }) => status === 404)).toHaveLength(20);
    const reason = `404 not_found ${path === '/nothing' ? 'no route' : '/v1/notes/{id}'}`;
    expect(lines.filter(({ msg }) => msg === 'repeated refusals')).toMatchObject([
      { reason, network: '192.0.2.2', count: 15 },
      { reason, network: '192.0.2.1', count: 15 },
    ]);
  },
);
