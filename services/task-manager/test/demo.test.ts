import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import supertest from 'supertest';
import { expect, test } from 'vitest';
import { at, createTestDatabase, variablesFor } from './harness.ts';
import { runScript, startProcess } from './service-process.ts';

test('the demo can be loaded repeatedly, and its commands work when pasted', async () => {
  await using database = await createTestDatabase();
  const variables = variablesFor(database.url);
  await using service = await startProcess(variables);
  const load = async () => {
    const output = await runScript('src/demo.ts', { ...variables, GATEWAY_URL: service.url });
    return JSON.parse(output) as {
      demo: { user: { email: string; password: string } };
      curls: { title: string; command: string }[];
    };
  };
  const first = await load();
  expect(await load()).toEqual(first);
  const login = await supertest(service.url).post(at('/auth/login')).send(first.demo.user);
  expect(login.status).toBe(200);
  const list = await supertest(service.url)
    .get(at('/tasks'))
    .auth(String(login.body.accessToken), { type: 'bearer' });
  expect(list.body.tasks).toHaveLength(30);
  const lists = await supertest(service.url)
    .get(at('/lists'))
    .auth(String(login.body.accessToken), { type: 'bearer' });
  expect(lists.body.lists).toHaveLength(1);
  expect(Object.keys(lists.body.lists[0].members)).toHaveLength(3);
  const shared = await promisify(execFile)('sh', ['-c', first.curls[1]?.command ?? '']);
  expect(JSON.parse(shared.stdout).tasks).toHaveLength(5);
  const invited = await promisify(execFile)('sh', ['-c', first.curls[2]?.command ?? '']);
  expect(JSON.parse(invited.stdout).members).toHaveProperty(['neighbour@example.test']);
  const { stdout } = await promisify(execFile)('sh', ['-c', first.curls[0]?.command ?? '']);
  expect(JSON.parse(stdout)).toMatchObject({ page: { number: 1, limit: 3, has_more: true } });
});
