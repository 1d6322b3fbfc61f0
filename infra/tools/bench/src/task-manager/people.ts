import { randomUUID } from 'node:crypto';
import type { BenchService } from '../service.ts';
import postgres from 'postgres';

const password = 'correct horse battery';

export interface Person {
  email: string;
  token: string;
}

/** Registers the one whose tasks are listed. */
export const register = async ({ url }: BenchService): Promise<Person> => {
  const email = 'owner@example.test';
  const answer = await fetch(`${url}/api/v1/auth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  if (answer.status !== 201) throw new Error(await answer.text());
  const { accessToken } = (await answer.json()) as { accessToken: string };
  return { email, token: accessToken };
};

/**
 * Gives the owner this many tasks, created a minute apart, and everybody else in the table ten each. Then
 * vacuums, as autovacuum does within a minute.
 */
export const fill = async (
  { databaseUrl }: BenchService,
  { email }: Person,
  count: number,
  others: number,
) => {
  const sql = postgres(databaseUrl, { max: 1 });
  await sql`
    insert into users (id, email, password_hash, created_at)
    select uuidv7(), 'user-' || n || '@example.test', password_hash, now()
    from users, generate_series(1, ${others}) n where email = ${email}`;
  await sql`
    insert into tasks (user_id, id, title, description, status, priority, due_date, tags, created_at, updated_at, version)
    select users.id, uuidv7(), 'Task number ' || n, repeat('What is to be done and why. ', 5), 'todo',
      (array['low', 'medium', 'high', 'urgent'])[1 + n % 4]::task_priority, date '2026-01-01' + n % 400,
      array['home', 'tag-' || n % 10], now() - n * interval '1 minute', now(), 1
    from users, generate_series(1, ${count}) n where email = ${email} or n <= 10`;
  await sql`vacuum analyze`;
  await sql.end();
};

/** Status and duration in ms of one request, its body read. */
export const timed = async (url: string, init: RequestInit): Promise<{ status: number; ms: number }> => {
  const start = performance.now();
  const answer = await fetch(url, init);
  await answer.arrayBuffer();
  return { status: answer.status, ms: performance.now() - start };
};

export const listing = ({ url }: BenchService, { token }: Person, page: number) =>
  timed(`${url}/api/v1/tasks?limit=20&page=${page}`, { headers: { Authorization: `Bearer ${token}` } });

/** Registers a user with a new email; returns the status. */
export const registerNew = async ({ url }: BenchService): Promise<number> => {
  const { status } = await timed(`${url}/api/v1/auth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: `${randomUUID()}@example.test`, password }),
  });
  return status;
};

export const login = ({ url }: BenchService, email: string) =>
  timed(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
