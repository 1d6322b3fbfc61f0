import { describe, expect, test } from 'vitest';
import { bearerOf, register, startService } from '../../test/harness.ts';

type User = Awaited<ReturnType<typeof register>>;

const post = ({ as }: User, key: string, body: object = { title: 'Once' }) =>
  as('post', '/tasks').set('Idempotency-Key', key).send(body);

const countTasks = async ({ as }: User) => (await as('get', '/tasks')).body.tasks.length as number;

describe('an Idempotency-Key', () => {
  test('makes a repeat return the first result', async () => {
    await using service = await startService();
    const ada = await register(service.app);
    const first = await post(ada, 'k1', { title: 'Once', tags: ['a'] });
    const second = await post(ada, 'k1', { tags: ['a'], title: 'Once' });
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect([second.headers.location, second.headers.etag]).toEqual([first.headers.location, '"1"']);
    expect(await countTasks(ada)).toBe(1);
  });

  test('returns the first result even if the task was changed or deleted since', async () => {
    await using service = await startService();
    const ada = await register(service.app);
    const { body } = await post(ada, 'k1');
    await ada.as('patch', `/tasks/${body.id}`).send({ title: 'Changed' });
    expect((await post(ada, 'k1')).body).toEqual(body);
    await ada.as('delete', `/tasks/${body.id}`);
    expect((await post(ada, 'k1')).body).toEqual(body);
    expect(await countTasks(ada)).toBe(0);
  });

  test('with another body is refused', async () => {
    await using service = await startService();
    const ada = await register(service.app);
    await post(ada, 'k1');
    const { status, type, body } = await post(ada, 'k1', { title: 'Twice' });
    expect([status, type, body.code]).toEqual([422, 'application/problem+json', 'idempotency_key_reused']);
    expect(await countTasks(ada)).toBe(1);
  });

  test('sent many times at once to two instances creates one task', async () => {
    await using service = await startService();
    await using other = await startService({ databaseUrl: service.databaseUrl });
    const ada = await register(service.app);
    const atOther = { ...ada, as: bearerOf(other.app, ada.token) };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => post(n % 2 === 0 ? ada : atOther, 'k1')),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    expect(await countTasks(ada)).toBe(1);
  });

  test('belongs to its user', async () => {
    await using service = await startService();
    const [ada, eve] = [await register(service.app), await register(service.app)];
    const ofAda = await post(ada, 'k1');
    const ofEve = await post(eve, 'k1', { title: 'Other' });
    expect([ofEve.status, ofEve.body.id === ofAda.body.id]).toEqual([201, false]);
  });

  test('can be used again after a refused request', async () => {
    await using service = await startService();
    const ada = await register(service.app);
    expect((await post(ada, 'k1', { title: '' })).status).toBe(400);
    expect((await post(ada, 'k1')).status).toBe(201);
  });

  test('expires after a day, even if it is not deleted yet', async () => {
    await using service = await startService();
    const { sql } = service.context.database;
    const ada = await register(service.app);
    const first = await post(ada, 'k1');
    await sql`update idempotency_keys set created_at = created_at - interval '23 hours 59 minutes'`;
    expect((await post(ada, 'k1')).body.id).toBe(first.body.id);
    await sql`update idempotency_keys set created_at = created_at - interval '1 minute'`;
    const repeats = await Promise.all([1, 2, 3].map(() => post(ada, 'k1', { title: 'A new day' })));
    const [second] = repeats;
    expect(repeats.map(({ status, body }) => [status, body.id])).toEqual(
      repeats.map(() => [201, second?.body.id]),
    );
    expect(second?.body.id).not.toBe(first.body.id);
    expect(await countTasks(ada)).toBe(2);
  });

  test.each(['', 'x'.repeat(129)])('of invalid length is refused and named: %j', async (key) => {
    await using service = await startService();
    const { status, body } = await post(await register(service.app), key);
    expect([status, Object.keys(body.errors)]).toEqual([400, ['Idempotency-Key']]);
  });

  test('may have 128 characters of any kind', async () => {
    await using service = await startService();
    const ada = await register(service.app);
    const key = `"'%\\; ${'x'.repeat(122)}`;
    expect([(await post(ada, key)).status, await countTasks(ada)]).toEqual([201, 1]);
    expect([(await post(ada, key)).status, await countTasks(ada)]).toEqual([201, 1]);
  });
});
