import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { register, startService } from '../../test/harness.ts';

let service: Awaited<ReturnType<typeof startService>>;
let ada: Awaited<ReturnType<typeof register>>;
beforeAll(async () => {
  service = await startService();
  ada = await register(service.app);
});
afterAll(() => service[Symbol.asyncDispose]());

const createTask = async () => `/tasks/${(await ada.as('post', '/tasks').send({ title: 'Once' })).body.id}`;

describe('If-None-Match', () => {
  test.each(['"1"', 'W/"1"', '"0", "1"', '*'])('%s gets 304 for a task at version 1', async (tags) => {
    const { status, text, headers } = await ada.as('get', await createTask()).set('If-None-Match', tags);
    expect([status, text, headers.etag]).toEqual([304, '', '"1"']);
  });

  test.each(['"2"', '1', '""'])('%s gets 200 with the task', async (tags) => {
    const { status, body } = await ada.as('get', await createTask()).set('If-None-Match', tags);
    expect([status, body.title]).toEqual([200, 'Once']);
  });

  test('gets 404 for a deleted task', async () => {
    const deleted = await createTask();
    await ada.as('delete', deleted);
    expect((await ada.as('get', deleted).set('If-None-Match', '*')).status).toBe(404);
  });
});

describe('If-Match', () => {
  test('allows a change to the version that it names', async () => {
    const task = await createTask();
    const first = await ada.as('patch', task).set('If-Match', '"1"').send({ title: 'Twice' });
    expect([first.status, first.headers.etag]).toEqual([200, '"2"']);
    const second = await ada.as('patch', task).set('If-Match', '"1"').send({ title: 'Thrice' });
    expect([second.status, second.type, second.body.code]).toEqual([
      412,
      'application/problem+json',
      'stale',
    ]);
    expect((await ada.as('get', task)).body).toMatchObject({ title: 'Twice', version: 2 });
  });

  test('applies to an empty patch, too', async () => {
    expect(
      (
        await ada
          .as('patch', await createTask())
          .set('If-Match', '"9"')
          .send({})
      ).status,
    ).toBe(412);
    expect(
      (
        await ada
          .as('patch', await createTask())
          .set('If-Match', '"1"')
          .send({})
      ).status,
    ).toBe(200);
  });

  test('applies to deletion', async () => {
    const task = await createTask();
    expect((await ada.as('delete', task).set('If-Match', '"9"')).status).toBe(412);
    expect((await ada.as('delete', task).set('If-Match', '"1"')).status).toBe(204);
  });

  test('that cannot be parsed is refused instead of ignored', async () => {
    const { status, body } = await ada
      .as('patch', await createTask())
      .set('If-Match', '1')
      .send({ title: 'x' });
    expect([status, Object.keys(body.errors)]).toEqual([400, ['If-Match']]);
  });

  test('allows exactly one of many concurrent changes', async () => {
    const task = await createTask();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        ada
          .as('patch', task)
          .set('If-Match', '"1"')
          .send({ title: `${n}` }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(9);
  });
});
