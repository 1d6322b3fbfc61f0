import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { register, startService } from '../../test/harness.ts';

let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const hour = 3_600_000;
const dayIn = (timeZone: string, offset = 0): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone }).format(Date.now() + offset * 24 * hour);
const inHours = (hours: number): string => new Date(Date.now() + hours * hour).toISOString();

/** Creates tasks for a new user and returns a function that lists the titles of the tasks that match a query. */
const createTasks = async (tasks: object[]) => {
  const { as } = await register(service.app);
  for (const task of tasks) await as('post', '/tasks').send(task).expect(201);
  return async (query: string): Promise<string[]> => {
    const { body } = await as('get', `/tasks?sort=title&limit=200&${query}`).expect(200);
    return body.tasks.map(({ title }: { title: string }) => title);
  };
};

describe('the filter `due`', () => {
  test.each(['Pacific/Kiritimati', 'Etc/GMT+12', 'Europe/Berlin', 'UTC'])(
    'finds tasks by their day in %s: today, overdue and within seven days',
    async (zone) => {
      const titles = await createTasks([
        ...[-8, -1, 0, 1, 6, 7].map((offset) => ({ title: `day ${offset}`, dueDate: dayIn(zone, offset) })),
        { title: 'done', dueDate: dayIn(zone, -1), status: 'done' },
        { title: 'some day' },
      ]);
      const tz = encodeURIComponent(zone);
      expect(await titles(`due=today&tz=${tz}`)).toEqual(['day 0']);
      expect(await titles(`due=overdue&tz=${tz}`)).toEqual(['day -1', 'day -8']);
      expect(await titles(`due=week&tz=${tz}`)).toEqual(['day 0', 'day 1', 'day 6']);
      expect(await titles(`due=week&tz=${tz}&status=done,todo&q=day+6`)).toEqual(['day 6']);
    },
  );

  test('counts a task with a due time as overdue from that time on, and uses its day in the time zone', async () => {
    // 14 hours ahead of UTC and 12 hours behind: they never have the same day.
    const [east, west] = ['Pacific/Kiritimati', 'Etc/GMT+12'];
    const now = inHours(0);
    const titles = await createTasks([
      { title: 'past', dueDate: dayIn(east), dueAt: now },
      { title: 'soon', dueDate: dayIn(east, 1), dueAt: inHours(24) },
    ]);
    expect(await titles(`due=overdue&tz=${east}`)).toEqual(['past']);
    for (const zone of [east, west]) {
      expect(await titles(`due=today&tz=${encodeURIComponent(zone)}`)).toEqual(['past']);
    }
    expect(await titles('due=week')).toEqual(['past', 'soon']);
  });

  test('uses UTC without a time zone', async () => {
    const titles = await createTasks([{ title: 'today', dueDate: dayIn('UTC') }]);
    expect(await titles('due=today')).toEqual(['today']);
  });

  test('does not affect the sort by due date: within a day by time, tasks without a time last in both directions', async () => {
    const at = (time: string) => `2030-05-01T${time}:00.000Z`;
    const { as } = await register(service.app);
    for (const [title, dueAt] of [['noon', at('12:00')], ['any'], ['nine', at('09:00')]])
      await as('post', '/tasks').send({ title, dueDate: '2030-05-01', dueAt }).expect(201);
    await as('post', '/tasks').send({ title: 'before', dueDate: '2030-04-30' }).expect(201);
    const titles = async (query: string) =>
      (await as('get', `/tasks?${query}`).expect(200)).body.tasks.map(
        ({ title }: { title: string }) => title,
      );
    expect(await titles('sort=dueDate')).toEqual(['before', 'nine', 'noon', 'any']);
    expect(await titles('sort=-dueDate')).toEqual(['noon', 'nine', 'any', 'before']);
    expect(await titles('sort=dueDate&limit=2&page=2')).toEqual(['noon', 'any']);
    expect(await titles('sort=-dueDate&limit=2&page=2')).toEqual(['any', 'before']);
  });
});

describe('the due time', () => {
  const due = { dueDate: '2030-05-01', dueAt: '2030-04-30T23:30:00.000Z' };

  test('must be a time on the due date in some time zone, and be sent together with it', async () => {
    const { as } = await register(service.app);
    const answers = [
      { ...due },
      { dueDate: '2030-05-01', dueAt: '2030-04-30T10:00:00.000Z' },
      { dueDate: '2030-05-01', dueAt: '2030-05-02T11:59:59.999Z' },
      { dueDate: '2030-05-01', dueAt: '2030-04-30T09:59:59.999Z' },
      { dueDate: '2030-05-01', dueAt: '2030-05-02T12:00:00.000Z' },
      { dueAt: due.dueAt },
      { dueDate: null, dueAt: due.dueAt },
      { dueDate: '2030-05-01', dueAt: '2030-04-30T23:30' },
      { dueDate: '0001-01-01', dueAt: '0000-12-31T23:00:00.000Z' },
    ].map(async (times) => {
      const { status, body } = await as('post', '/tasks').send({ title: 'Call', ...times });
      return status === 201 ? status : Object.keys(body.errors);
    });
    const invalidFields = ['dueAt'];
    expect(await Promise.all(answers)).toEqual([201, 201, 201, ...answers.slice(3).map(() => invalidFields)]);
  });

  test('is removed by a change of the due date, but not by the same due date or other fields', async () => {
    const { as } = await register(service.app);
    const { body } = await as('post', '/tasks').send({ title: 'Call', ...due });
    const patch = async (changes: object) =>
      (await as('patch', `/tasks/${body.id}`).send(changes).expect(200)).body;
    expect(await patch({ dueDate: due.dueDate })).toEqual(body);
    expect(await patch({ dueDate: due.dueDate, title: 'Call Eve' })).toMatchObject({ ...due, version: 2 });
    const moved = { dueDate: '2030-05-02', dueAt: null };
    expect(await patch({ dueDate: '2030-05-02' })).toMatchObject(moved);
    expect(await patch(due)).toMatchObject(due);
    expect(await patch({ dueAt: null })).toMatchObject({ ...due, dueAt: null });
    await patch(due);
    expect(await patch({ dueDate: null })).toMatchObject({ dueDate: null, dueAt: null });
    await as('patch', `/tasks/${body.id}`).send({ dueAt: due.dueAt }).expect(400);
  });
});
