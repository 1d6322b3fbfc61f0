import { generateKeyPairSync } from 'node:crypto';
import { startService } from '../service.ts';
import type { LoadRequest } from '../load.ts';

/** A private key in the format of a service's settings. */
export const signingKey = (): string =>
  JSON.stringify(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }));

/** Starts task-manager with a user who owns 10,000 tasks, created a minute apart, and 500 others with ten tasks each. */
export const startTasks = async () => {
  const service = await startService('task-manager', { AUTH_SIGNING_KEY: signingKey() });
  const { url, sql } = service;
  const email = 'owner@example.test';
  const response = await fetch(`${url}/api/v1/auth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password: 'correct horse battery' }),
  });
  if (response.status !== 201) throw new Error(await response.text());
  const { accessToken } = (await response.json()) as { accessToken: string };
  const [owner] = await sql<{ id: string }[]>`select id from users`;
  await sql`
    insert into users (id, email, password_hash, created_at)
    select uuidv7(), 'user-' || n || '@example.test', password_hash, now()
    from users, generate_series(1, 500) n where email = ${email}`;
  await sql`
    insert into tasks (owner_id, id, title, description, status, priority, due_date, tags, created_at, updated_at, version)
    select users.id, uuidv7(), 'Task number ' || n, repeat('What is to be done and why. ', 5), 'todo',
      (array['low', 'medium', 'high', 'urgent'])[1 + n % 4]::task_priority, date '2026-01-01' + n % 400,
      array['home', 'tag-' || n % 10], now() - n * interval '1 minute', now(), 1
    from users, generate_series(1, 10000) n where email = ${email} or n <= 10`;
  await sql`vacuum analyze`;
  const list = (page: number): LoadRequest => ({
    path: `/api/v1/tasks?limit=20&page=${page}`,
    headers: { Authorization: `Bearer ${accessToken}` },
  });
  return { service, list, userId: owner?.id ?? '' };
};
