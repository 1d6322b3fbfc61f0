import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, inject, test } from 'vitest';
import { cloneDatabase, startServiceProcess } from '../src/testing/index.ts';
import { migrations } from './fixture/service.ts';

const secret = 'a'.repeat(32);

const start = (databaseUrl: string, variables: Record<string, string> = {}) =>
  startServiceProcess({
    folder: new URL('fixture', import.meta.url).pathname,
    script: 'main.ts',
    variables: { DATABASE_URL: databaseUrl, MAX_CONNECTIONS: '60', RATE_LIMIT: 'off', ...variables },
  });

interface SlowClient {
  socket: Socket;
  answer(): string;
}

/** Connects from a loopback address, sends the start of a request, and collects the answer. */
const sendStart = async (port: number, localAddress: string, start: string): Promise<SlowClient> => {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  let answer = '';
  socket.on('error', () => undefined).on('data', (data) => (answer += String(data)));
  await once(socket, 'connect');
  if (start !== '') socket.write(start);
  return { socket, answer: () => answer };
};

const bodyOf = (size: number, extraHeaders = '') =>
  `POST /v1/notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${size}\r\n${extraHeaders}\r\n{`;

/** Writes a note on a separate connection. */
const writeNote = async (port: number, id: string, headers: Record<string, string> = {}): Promise<number> => {
  const body = JSON.stringify({ id, words: 'x' });
  const sent = request({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/v1/notes',
    agent: new Agent({ maxSockets: 1 }),
    headers: { 'Content-Type': 'application/json', 'Content-Length': body.length, ...headers },
  }).end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode ?? 0;
};

test('ending requests while their refusal waits for the rest of the body does not end the process', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  await using service = await start(database.url);
  const refused: SlowClient[] = [];
  for (let at = 0; at < 60; at++)
    refused.push(
      await sendStart(
        service.port,
        `127.0.0.${2 + (at % 3)}`,
        bodyOf(90_000).replace('/v1/notes', '/v1/nowhere'),
      ),
    );
  await expect.poll(() => refused.every(({ socket }) => socket.closed)).toBe(true);
  expect(new Set(refused.map(({ answer }) => answer().slice(9, 12)))).toEqual(new Set(['404', '503']));
  expect(await writeNote(service.port, 'afterwards')).toBe(201);
});

const partsOfRequests: [string, (at: number) => string][] = [
  ['without a byte', () => ''],
  ['with half a head', () => 'POST /v1/notes HTTP/1.1\r\nHost:'],
  ['with half a body', () => bodyOf(1000)],
  ['idle after an answer', () => 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'],
];

test.each(partsOfRequests)(
  'slow clients %s at several addresses do not displace other clients',
  async (_name, part) => {
    await using database = await cloneDatabase(inject('postgresUrl'), migrations);
    await using service = await start(database.url);
    // The oldest connection, and the only one of its network.
    const upload = JSON.stringify({ id: 'upload', words: 'slow' });
    const oldest = await sendStart(
      service.port,
      '127.0.0.1',
      `${bodyOf(upload.length, 'Connection: close\r\n')}${upload.slice(1, 9)}`,
    );
    const slow: SlowClient[] = [];
    const statuses = [];
    for (let at = 0; at < 150; at++) {
      slow.push(await sendStart(service.port, `127.0.0.${2 + (at % 3)}`, part(at)));
      if (at % 5 === 0) statuses.push(await writeNote(service.port, `note-${at}`));
    }
    expect(new Set(statuses)).toEqual(new Set([201]));
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
    oldest.socket.write(upload.slice(9));
    await once(oldest.socket, 'close');
    expect(oldest.answer()).toMatch(/^HTTP\/1\.1 201 /);
    for (const { socket } of slow) socket.destroy();
  },
);

test('clients behind a trusted proxy are distinguished, and ended requests get 503 with Retry-After', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  await using service = await start(database.url, { GATEWAY_SECRET: secret });
  const via = (client: string) => ({ 'X-Gateway-Secret': secret, 'X-Forwarded-For': client });
  const headers = (client: string) =>
    Object.entries(via(client))
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
  const slow: SlowClient[] = [];
  const statuses = [];
  for (let at = 0; at < 120; at++) {
    slow.push(await sendStart(service.port, '127.0.0.1', bodyOf(1000, headers(`192.0.2.${1 + (at % 2)}`))));
    if (at % 5 === 0) statuses.push(await writeNote(service.port, `note-${at}`, via('198.51.100.7')));
  }
  expect(new Set(statuses)).toEqual(new Set([201]));
  const answers = () => slow.map(({ answer }) => answer()).filter((answer) => answer !== '');
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  const refused = Number(/^http_requests_refused_total (\d+)$/m.exec(metrics)?.[1]);
  expect(refused).toBeGreaterThanOrEqual(120 - 60);
  await expect.poll(() => answers().length).toBe(refused);
  const ended = answers();
  for (const answer of ended) {
    expect(answer).toMatch(/^HTTP\/1\.1 503 [^]*\r\nRetry-After: 1\r\n[^]*"code":"too_busy"/);
    expect(answer).toContain('Connection: close');
  }
  const lines = () => service.lines.filter((line) => line.includes('"status":503'));
  // Lines of equal refusals are sampled.
  await expect.poll(() => lines().length).toBeGreaterThan(0);
  expect(lines()[0]).toContain('"code":"too_busy"');
  expect(service.lines.join('')).not.toContain('"level":"error"');
  for (const { socket } of slow) socket.destroy();
});

test('while each slow client has its own network, complete requests through a trusted proxy are answered', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  await using service = await start(database.url, { GATEWAY_SECRET: secret });
  const via = (client: string) => ({ 'X-Gateway-Secret': secret, 'X-Forwarded-For': client });
  const slow: SlowClient[] = [];
  const statuses = [await writeNote(service.port, 'first', via('198.51.100.7'))];
  for (let at = 0; at < 150; at++) {
    const head = `X-Gateway-Secret: ${secret}\r\nX-Forwarded-For: 192.0.2.${at}\r\n`;
    slow.push(await sendStart(service.port, '127.0.0.1', bodyOf(1000, head)));
    if (at % 15 !== 0) continue;
    const notes = Array.from({ length: 5 }, (_, nth) =>
      writeNote(service.port, `${at}-${nth}`, via('198.51.100.7')),
    );
    statuses.push(...(await Promise.all(notes)));
  }
  expect(new Set(statuses)).toEqual(new Set([201]));
  for (const { socket } of slow) socket.destroy();
});

test('the 65,536 networks of one IPv6 site count as one', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  await using service = await start(database.url, { GATEWAY_SECRET: secret });
  const via = (client: string) => `X-Gateway-Secret: ${secret}\r\nX-Forwarded-For: ${client}\r\n`;
  const oldest = await sendStart(service.port, '127.0.0.1', bodyOf(1000, via('2001:db8:1::1')));
  const slow: SlowClient[] = [];
  for (let at = 0; at < 120; at++)
    slow.push(await sendStart(service.port, '127.0.0.1', bodyOf(1000, via(`2001:db8:2:${at}::1`))));
  await expect.poll(() => slow[0]?.answer()).toContain('HTTP/1.1 503');
  expect(oldest.answer()).toBe('');
  for (const { socket } of [...slow, oldest]) socket.destroy();
});

test('an untrusted X-Forwarded-For cannot make one address count as many networks', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  await using service = await start(database.url, { GATEWAY_SECRET: secret });
  const oldest = await sendStart(service.port, '127.0.0.1', bodyOf(1000));
  const slow: SlowClient[] = [];
  for (let at = 0; at < 120; at++)
    slow.push(await sendStart(service.port, '127.0.0.2', bodyOf(1000, `X-Forwarded-For: 10.0.0.${at}\r\n`)));
  expect((await fetch(`${service.url}/livez`)).status).toBe(200);
  expect(oldest.answer()).toBe('');
  expect(oldest.socket.closed).toBe(false);
  for (const { socket } of [...slow, oldest]) socket.destroy();
});
