import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startServices } from './services.ts';

const guide = await readFile(new URL('../../../docs/front-ends.md', import.meta.url), 'utf8');
const config = /```js\n(.*?)```/s.exec(guide)?.[1] ?? '';
const services = await startServices();
const folder = await mkdtemp(join(tmpdir(), 'front-end-'));

/** The parts of Vite that are used here; it comes with Vitest. */
interface Vite {
  createServer(options: object): Promise<{
    listen(): Promise<unknown>;
    close(): Promise<void>;
    resolvedUrls: { local: string[] } | null;
  }>;
}
const vitest = createRequire(import.meta.url).resolve('vitest/package.json');
const { createServer } = (await import(createRequire(vitest).resolve('vite'))) as Vite;

let origin = '';
let close: () => Promise<void>;

beforeAll(async () => {
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'vite.config.js'), config);
  vi.stubEnv('GATEWAY_URL', await services.start('task-manager'));
  const options = { root: folder, logLevel: 'error', server: { host: '127.0.0.1', port: 0 } };
  const server = await createServer({ ...options, configFile: join(folder, 'vite.config.js') });
  await server.listen();
  origin = new URL(server.resolvedUrls?.local[0] ?? '').origin;
  close = () => server.close();
});
afterAll(async () => {
  await close();
  await services[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const register = (from: string) =>
  fetch(`${origin}/api/v1/auth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: from },
    body: JSON.stringify({ email: `${crypto.randomUUID()}@example.test`, password: 'correct horse battery' }),
  });

const createTask = (cookie: string, from: string) =>
  fetch(`${origin}/api/v1/tasks`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: from, Cookie: cookie },
    body: '{"title":"Water the plants"}',
  });

test('with the proxy of the guide, a page registers and creates a task with its cookies', async () => {
  const registered = await register(origin);
  expect(registered.status).toBe(201);
  const cookie = registered.headers.getSetCookie().map((line) => line.split(';', 1)[0]);
  expect((await createTask(cookie.join('; '), origin)).status).toBe(201);
  expect((await createTask(cookie.join('; '), 'https://elsewhere.example')).status).toBe(401);
});
