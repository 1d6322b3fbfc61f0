import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { get, getDraft, createTestDatabase, startService, titlesOf, write } from './harness.ts';

const folder = new URL('..', import.meta.url).pathname;

const token = `abc.${Buffer.from('{"sub":"ann"}').toString('base64url')}.ghi`;

/** Runs the demo script as `start` does; returns its output. */
const demo = async (databaseUrl: string) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['src/demo.ts'], {
    cwd: folder,
    env: {
      PORT: '0',
      DATABASE_URL: databaseUrl,
      AUTH_JWKS: 'none',
      AUTH_ISSUER: 'none',
      SUBSCRIPTIONS_KEY: 'ab'.repeat(32),
      AUTH_AUDIENCE: 'none',
      GATEWAY_URL: 'http://127.0.0.1:8080',
      DEMO_ADMIN_TOKEN: token,
    },
  });
  return JSON.parse(stdout) as { demo: { questId: string }; curls: { title: string; command: string }[] };
};

test('the demo quest has at least 25 questions, and loading it again changes nothing', async () => {
  await using database = await createTestDatabase();
  const first = await demo(database.url);
  await using service = await startService({ databaseUrl: database.url });
  const { questId } = first.demo;
  const before = await titlesOf(service, questId);
  expect(before.length).toBeGreaterThanOrEqual(25);
  await write(service, 'patch', `/quests/${questId}`, { title: 'My own title' }).expect(200);
  expect(await demo(database.url)).toEqual(first);
  expect(await titlesOf(service, questId)).toEqual(before);
  expect((await get(service, `/quests/${questId}`)).body.title).toBe('My own title');
  expect(first.curls.map(({ command }) => command)).toEqual([
    `curl -s 'http://127.0.0.1:8080/v1/quests/${questId}/questions?Skip=0&Take=2'`,
    expect.stringContaining(`Authorization: Bearer ${token}`),
    expect.stringContaining('/publish'),
    expect.stringContaining('/publish'),
    expect.stringContaining('/export'),
  ]);
});

test('the demo quest and the draft of another one can be published, and the unfinished draft cannot', async () => {
  await using database = await createTestDatabase();
  const { demo: loaded, curls } = await demo(database.url);
  await using service = await startService({ databaseUrl: database.url });
  const { body: file } = await getDraft(service, `/quests/${loaded.questId}/export`).expect(200);
  expect(file.titles).toHaveLength(3);
  await write(service, 'put', `/quests/${loaded.questId}/export?draft=true`, file).expect(204);
  await write(service, 'post', `/quests/${loaded.questId}/publish`).expect(200);
  const printed = curls.map(({ command }) => command).join();
  const [draft, corrected] = [...printed.matchAll(/quests\/([^/]+)\/publish/g)].map(([, id]) => id);
  const published = await write(service, 'post', `/quests/${corrected}/publish`).expect(200);
  expect(published.body.questionCount).toBe(4);
  await get(service, `/quests/${draft}`).expect(404);
  const { body } = await write(service, 'post', `/quests/${draft}/publish`).expect(409);
  expect(Object.keys(body.errors)).toEqual(['questions.1.titles', 'questions.1.alternatives']);
});
