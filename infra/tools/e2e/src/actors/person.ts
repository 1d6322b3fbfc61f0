import { randomUUID } from 'node:crypto';
import { ApiError, bearer, cookieSession, iteratePageLimit, taskManager, unwrap } from '@platform/client';
import { findDifferences, type Actor } from '../actor.ts';
import { callTimeout, persist } from '../wait.ts';

type Tasks = Map<string, { title: string; status: string }>;

/** Registers, creates tasks, finishes some and deletes others; some are created and changed in batches. */
export const person = (url: string): Actor => {
  const password = `Lavender ${randomUUID()}`;
  const secrets = [password];
  const acknowledged: Tasks = new Map();
  const deleted: string[] = [];
  let email: string | undefined;
  const tasks = taskManager(url, callTimeout, cookieSession());

  const keepToken = <T extends { accessToken: string }>(session: T): T => {
    secrets.push(session.accessToken);
    return session;
  };
  /** Registers a new address at each attempt, because after a lost response the account may already exist. */
  const register = async (): Promise<string> => {
    const newEmail = `${randomUUID()}@example.test`;
    keepToken(await unwrap(tasks.POST('/auth/register', { body: { email: newEmail, password } })));
    return newEmail;
  };
  const withLogin = async <T>(account: string, call: () => Promise<T>): Promise<T> =>
    call().catch(async (error: unknown) => {
      if (!(error instanceof ApiError && error.status === 401)) throw error;
      keepToken(await unwrap(tasks.POST('/auth/login', { body: { email: account, password } })));
      return call();
    });

  return {
    name: 'person',
    pace: 60,
    secrets: () => secrets,
    step: async () => {
      email ??= await register();
      const account = email;
      const persistWithLogin = <T>(call: () => Promise<T>) => persist(() => withLogin(account, call));
      const header = { 'Idempotency-Key': randomUUID() };
      const body = { title: `Errand ${acknowledged.size + 1}`, tags: ['e2e'] };
      const { id, title, status } = await persistWithLogin(() =>
        unwrap(tasks.POST('/tasks', { params: { header }, body })),
      );
      acknowledged.set(id, { title, status });
      const params = { path: { id } };
      if (acknowledged.size % 3 === 0) {
        await persistWithLogin(() =>
          unwrap(tasks.PATCH('/tasks/{id}', { params, body: { status: 'done' } })),
        );
        acknowledged.set(id, { title, status: 'done' });
      }
      if (acknowledged.size % 4 === 0) {
        const key = { 'Idempotency-Key': randomUUID() };
        const batch = {
          atomic: true,
          operations: [
            { op: 'create' as const, task: { title: `Errand ${acknowledged.size + 1}`, tags: ['e2e'] } },
            { op: 'patch' as const, id, task: { status: 'in_progress' as const } },
          ],
        };
        const { results } = await persistWithLogin(() =>
          unwrap(tasks.POST('/tasks/batch', { params: { header: key }, body: batch })),
        );
        for (const result of results)
          if ('task' in result)
            acknowledged.set(result.task.id, { title: result.task.title, status: result.task.status });
      }
      if (acknowledged.size % 5 > 0) return;
      acknowledged.delete(id);
      await persistWithLogin(() => unwrap(tasks.DELETE('/tasks/{id}', { params }))).catch(
        (error: unknown) => {
          // An earlier attempt succeeded, and its response was lost.
          if (!(error instanceof ApiError && error.status === 404)) throw error;
        },
      );
      deleted.push(id);
    },
    verify: async () => {
      if (email === undefined) return ['person: no registration succeeded'];
      const { accessToken } = await unwrap(
        taskManager(url).POST('/auth/login', { body: { email, password } }),
      );
      const reader = taskManager(url, bearer(accessToken));
      const listed: Tasks = new Map();
      const list = iteratePageLimit('tasks', (query) => reader.GET('/tasks', { params: { query } }), 200);
      for await (const { id, title, status } of list) listed.set(id, { title, status });
      return [
        ...deleted.filter((id) => listed.has(id)).map((id) => `person: ${id} was deleted but is listed`),
        ...findDifferences('person: task', acknowledged, listed),
      ];
    },
  };
};
