import { expect, test } from 'vitest';
import { register, startService } from '../../test/harness.ts';

type Service = Awaited<ReturnType<typeof startService>>;

/** Clock of the database in ms since 1970. */
const databaseTime = async ({ context }: Service): Promise<number> => {
  const [row] = await context.database.sql<{ ms: number }[]>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
  return row?.ms ?? NaN;
};

test.each([-40, 40])(
  'times of users and tasks come from the clock of the database, even if the clock of the instance differs by %i seconds',
  async (seconds) => {
    const overrides = { now: () => new Date(Date.now() + seconds * 1000) };
    await using service = await startService({ overrides });
    const start = await databaseTime(service);
    const ada = await register(service.app);
    const created = (await ada.as('post', '/tasks').send({ title: 'Done at once', status: 'done' })).body;
    const open = (await ada.as('post', '/tasks').send({ title: 'To be done' })).body;
    const middle = await databaseTime(service);
    const patched = (await ada.as('patch', `/tasks/${open.id}`).send({ status: 'done' })).body;
    const end = await databaseTime(service);

    expect(created.updatedAt).toBe(created.createdAt);
    expect(created.completedAt).toBe(created.createdAt);
    expect(patched.createdAt).toBe(open.createdAt);
    expect(patched.completedAt).toBe(patched.updatedAt);
    const between = (from: number, time: string, to: number) => {
      expect(Date.parse(time)).toBeGreaterThanOrEqual(from);
      // PostgreSQL rounds to the millisecond.
      expect(Date.parse(time)).toBeLessThanOrEqual(to + 1);
    };
    between(start, ada.answer.body.user.createdAt as string, middle);
    between(start, created.createdAt as string, middle);
    between(middle - 1, patched.updatedAt as string, end);
    expect((await ada.as('get', `/tasks/${open.id}`)).body).toEqual(patched);
  },
);
