import { randomUUID } from 'node:crypto';
import { ApiError, bearer, cookieSession, iteratePageLimit, taskManager, unwrap } from '@platform/client';
import { findDifferences, type Actor } from '../actor.ts';
import { inTime, persist } from '../wait.ts';

type Known = Map<string, { title: string; status: string }>;

/** Registers, makes tasks, finishes some and deletes others, some of them in batches. */
export const person = (url: string): Actor => {
  const password = `Lavender ${randomUUID()}`;
  const secrets = [password];
  const known: Known = new Map();
  const deleted: string[] = [];
  let email: string | undefined;
  const tasks = taskManager(url, inTime, cookieSession());

  const keepToken = <T extends { accessToken: string }>(session: T): T => {
    secrets.push(session.accessToken);
    return session;
  };
  /** When an answer is lost, the account may exist, so the next attempt registers another one. */
  const register = async (): Promise<string> => {
    const newEmail = `${randomUUID()}@example.test`;
    keepToken(await unwrap(tasks.POST('/auth/register', { body: { email: newEmail, password } })));
    return newEmail;
  };
  const asSelf = async <T>(self: string, call: () => Promise<T>): Promise<T> =>
    call().catch(async (error: unknown) => {
      if (!(error instanceof ApiError && error.status === 401)) throw error;
      keepToken(await unwrap(tasks.POST('/auth/login', { body: { email: self, password } })));
      return call();
    });

  return {
    name: 'person',
    pace: 60,
    secrets: () => secrets,
    step: async () => {
      email ??= await register();
      const self = email;
      const again = <T>(call: () => Promise<T>) => persist(() => asSelf(self, call));
      const header = { 'Idempotency-Key': randomUUID() };
      const body = { title: `Errand ${known.size + 1}`, tags: ['day'] };
      const { id, title, status } = await again(() =>
        unwrap(tasks.POST('/tasks', { params: { header }, body })),
      );
      known.set(id, { title, status });
      const params = { path: { id } };
      if (known.size % 3 === 0) {
        await again(() => unwrap(tasks.PATCH('/tasks/{id}', { params, body: { status: 'done' } })));
        known.set(id, { title, status: 'done' });
      }
      if (known.size % 4 === 0) {
        const key = { 'Idempotency-Key': randomUUID() };
        const batch = {
          atomic: true,
          operations: [
            { op: 'create' as const, task: { title: `Errand ${known.size + 1}`, tags: ['day'] } },
            { op: 'patch' as const, id, task: { status: 'in_progress' as const } },
          ],
        };
        const { results } = await again(() =>
          unwrap(tasks.POST('/tasks/batch', { params: { header: key }, body: batch })),
        );
        for (const result of results)
          if ('task' in result)
            known.set(result.task.id, { title: result.task.title, status: result.task.status });
      }
      if (known.size % 5 > 0) return;
      known.delete(id);
      await again(() => unwrap(tasks.DELETE('/tasks/{id}', { params }))).catch((error: unknown) => {
        // The answer to the first try was lost.
        if (!(error instanceof ApiError && error.status === 404)) throw error;
      });
      deleted.push(id);
    },
    verify: async () => {
      if (email === undefined) return ['person: nobody could register'];
      const { accessToken } = await unwrap(
        taskManager(url).POST('/auth/login', { body: { email, password } }),
      );
      const own = taskManager(url, bearer(accessToken));
      const listed: Known = new Map();
      const list = iteratePageLimit('tasks', (query) => own.GET('/tasks', { params: { query } }), 200);
      for await (const { id, title, status } of list) listed.set(id, { title, status });
      return [
        ...deleted.filter((id) => listed.has(id)).map((id) => `person: ${id} was deleted and is there`),
        ...findDifferences('person: task', known, listed),
      ];
    },
  };
};
