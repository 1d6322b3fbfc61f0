import { countFollowed } from '@platform/feed/testing';
import { container } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { register, startService, variablesFor } from './harness.ts';
import { startProcess } from './service-process.ts';

const path = '/v1/feeds/task-manager/tasks';
const taskCount = 1000;

test('exports and pages of the largest tasks stay within the memory of a container', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const secret = 'ab'.repeat(32);
  await using server = await startProcess(
    { ...variablesFor(service.databaseUrl), GATEWAY_SECRET: secret },
    container.nodeArguments,
  );
  const users = await Promise.all(Array.from({ length: 5 }, () => register(service.app)));
  const get = (token: string, query: string, network = 1) =>
    fetch(`${server.url}${path}${query}`, {
      headers: {
        Authorization: `Bearer ${token}`,
        'X-Gateway-Secret': secret,
        'X-Forwarded-For': `192.0.2.${network}`,
      },
    });
  const cursors = await Promise.all(
    users.map(async ({ token }) => ((await (await get(token, '')).json()) as { next: string }).next),
  );
  // 10,000 random letters of three bytes each, which compress badly.
  for (const { user } of users)
    for (let from = 1; from < taskCount; from += 100)
      await sql`
      with letters as materialized (
        select string_agg(chr(19968 + (random() * 20000)::int), '') as text from generate_series(1, 10000))
      insert into tasks (owner_id, id, title, status, priority, tags, version, description, created_at, updated_at)
      select ${user.id}, uuidv7(), 'Large', 'todo', 'medium', '{}', 1, substr(text, n) || substr(text, 1, n - 1), now(), now()
      from letters, generate_series(${from}::int, ${from + 99}::int) n`;
  const exported = await Promise.all(
    [0, 0, 1, 1, 2, 2, 3, 3, 4, 4].map(async (userIndex) => {
      const text = await (await get(users[userIndex]?.token ?? '', '/export', userIndex + 1)).text();
      return text.trim().split('\n').length;
    }),
  );
  expect(exported).toEqual(exported.map(() => taskCount + 1));
  const followed = users.map(({ token }, index) =>
    countFollowed((query) => get(token, query), cursors[index] ?? ''),
  );
  expect(await Promise.all(followed)).toEqual(followed.map(() => taskCount));
  expect(await server.peakBytes()).toBeLessThan(container.bytes);
});
