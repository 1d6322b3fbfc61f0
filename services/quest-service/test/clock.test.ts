import { expect, test } from 'vitest';
import { get, question, startService, write, type Instance } from './harness.ts';

/** The time of the database in ms since 1970. */
const databaseTime = async ({ context }: Instance): Promise<number> => {
  const [row] = await context.database.sql<{ ms: number }[]>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
  return row?.ms ?? NaN;
};

test.each([-40, 40])(
  'times of quests are those of the database, although the clock of the instance differs by %i seconds',
  async (seconds) => {
    const overrides = { now: () => new Date(Date.now() + seconds * 1000) };
    await using service = await startService({ overrides });
    const start = await databaseTime(service);
    const { body: created } = await write(service, 'post', '/quests', { title: 'A quest' }).expect(201);
    const middle = await databaseTime(service);
    const path = `/quests/${created.questId}`;
    await write(service, 'put', `${path}/questions`, [question('One')]).expect(200);
    const { body: changed } = await get(service, path).expect(200);
    const end = await databaseTime(service);

    expect(created.updatedAt).toBe(created.createdAt);
    expect(changed.createdAt).toBe(created.createdAt);
    for (const [from, time, to] of [
      [start, created.createdAt, middle],
      [middle, changed.updatedAt, end],
    ]) {
      // PostgreSQL rounds to the millisecond.
      expect(Date.parse(time)).toBeGreaterThanOrEqual(from - 1);
      expect(Date.parse(time)).toBeLessThanOrEqual(to + 1);
    }
  },
);
