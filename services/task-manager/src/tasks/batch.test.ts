import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockLists } from '../lists/queries.ts';
import { bearerOf, createList, register, startService, type Registered } from '../../test/harness.ts';

type Service = Awaited<ReturnType<typeof startService>>;
let service: Service;
let ada: Registered;
beforeAll(async () => {
  service = await startService();
  ada = await register(service.app);
});
afterAll(() => service[Symbol.asyncDispose]());

interface Result {
  status: number;
  task?: { id: string; title: string; version: number };
  problem?: { status: number; code: string; errors?: object };
}

const send = ({ as }: Pick<Registered, 'as'>, operations: unknown, options: object = {}) =>
  as('post', '/tasks/batch').send({ operations, ...options });

const resultsOf = async (user: Pick<Registered, 'as'>, operations: object[]): Promise<Result[]> =>
  (await send(user, operations).expect(200)).body.results as Result[];

/** The status of each result, or its problem code. */
const outcomesOf = (results: readonly Result[]) =>
  results.map(({ status, problem }) => problem?.code ?? status);

const create = (title: string, fields: object = {}) => ({ op: 'create', task: { title, ...fields } });
const patch = (id: string, task: object, options: object = {}) => ({ op: 'patch', id, task, ...options });
const remove = (id: string, options: object = {}) => ({ op: 'delete', id, ...options });

/** Creates tasks with these titles and returns their ids. */
const createTasks = async (user: Registered, ...titles: string[]): Promise<string[]> =>
  (
    await resultsOf(
      user,
      titles.map((title) => create(title)),
    )
  ).map(({ task }) => task?.id ?? '');

const titlesOf = async ({ as }: Registered): Promise<string[]> =>
  ((await as('get', '/tasks?sort=createdAt&limit=200')).body.tasks as { title: string }[]).map(
    ({ title }) => title,
  );

const unknownId = '01900000-0000-7000-8000-000000000000';

describe('a batch', () => {
  test('creates, changes and deletes tasks; each operation has the result of a single request, in the same order', async () => {
    const user = await register(service.app);
    const [first = '', second = ''] = await createTasks(user, 'First', 'Second');
    const { status, body, headers } = await send(user, [
      create('Third', { tags: ['a'], status: 'done' }),
      patch(first, { title: 'First of all' }),
      remove(second),
    ]);
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    const [created, changed, deleted] = body.results as Result[];
    expect(created).toEqual({
      status: 201,
      task: (await user.as('get', `/tasks/${created?.task?.id}`)).body,
    });
    expect(created?.task).toMatchObject({ title: 'Third', tags: ['a'], version: 1 });
    expect(changed).toEqual({ status: 200, task: (await user.as('get', `/tasks/${first}`)).body });
    expect(changed?.task).toMatchObject({ title: 'First of all', version: 2 });
    expect(deleted).toEqual({ status: 204 });
    expect(await titlesOf(user)).toEqual(['First of all', 'Third']);
  });

  test('runs the valid operations, and returns the problems of single requests for the others', async () => {
    const user = await register(service.app);
    const [id = '', keptId = ''] = await createTasks(user, 'Mine', 'Kept');
    const [foreignId = ''] = await createTasks(ada, 'Hers');
    const operations = [
      patch(foreignId, { title: 'Stolen' }),
      patch(unknownId, { title: 'x' }),
      patch(id, { title: 'Changed' }, { ifMatch: '"7"' }),
      remove(keptId, { ifMatch: '"2", W/"3"' }),
      patch(id, { assigneeId: user.user.id }),
      create('Elsewhere', { listId: unknownId }),
      patch(id, { title: 'Changed' }, { ifMatch: '"1"' }),
    ];
    const results = await resultsOf(user, operations);
    expect(outcomesOf(results)).toEqual([
      'not_found',
      'not_found',
      'stale',
      'stale',
      'validation_failed',
      'not_found',
      200,
    ]);
    const single = await user.as('patch', `/tasks/${id}`).set('If-Match', '"7"').send({ title: 'Changed' });
    expect({ ...results[2]?.problem, requestId: single.body.requestId }).toEqual(single.body);
    expect(results[4]?.problem?.errors).toEqual({
      assigneeId: ['must be the userId of a member of the list'],
    });
    expect(await titlesOf(user)).toEqual(['Changed', 'Kept']);
    expect((await ada.as('get', `/tasks/${foreignId}`)).body).toMatchObject({ title: 'Hers', version: 1 });
  });

  test('may contain several operations on a task, which run in order', async () => {
    const user = await register(service.app);
    const [id = ''] = await createTasks(user, 'One');
    const results = await resultsOf(user, [
      patch(id, { title: 'Two' }, { ifMatch: '"1"' }),
      patch(id, { title: 'Two' }),
      patch(id, { title: 'Three' }, { ifMatch: '"1"' }),
      patch(id, { title: 'Three' }, { ifMatch: '*' }),
      remove(id, { ifMatch: '"3"' }),
      patch(id, { title: 'Four' }),
      remove(id.toUpperCase()),
    ]);
    expect(outcomesOf(results)).toEqual([200, 200, 'stale', 200, 204, 'not_found', 'not_found']);
    expect(results.map(({ task }) => task?.version)).toEqual([2, 2, undefined, 3, ...Array(3)]);
  });

  test('that is atomic runs all operations, or none and names the refused operation', async () => {
    const user = await register(service.app);
    const [id = '', otherId = ''] = await createTasks(user, 'One', 'Two');
    const operations = [
      create('Three'),
      patch(id, { title: 'Changed' }),
      remove(otherId, { ifMatch: '"9"' }),
    ];
    const { status, type, body } = await send(user, operations, { atomic: true });
    expect([status, type]).toEqual([409, 'application/problem+json']);
    expect(body).toMatchObject({
      code: 'batch_refused',
      detail: 'Operation 2 was refused, so none was done: The task has another version; read it again.',
      operation: 2,
      problem: { status: 412, code: 'stale' },
    });
    expect(await titlesOf(user)).toEqual(['One', 'Two']);
    const accepted = await send(user, [...operations.slice(0, 2), remove(otherId, { ifMatch: '"1"' })], {
      atomic: true,
    });
    expect([accepted.status, outcomesOf(accepted.body.results as Result[])]).toEqual([200, [201, 200, 204]]);
    expect(await titlesOf(user)).toEqual(['Changed', 'Three']);
  });

  test('stores nothing if the database fails in the middle of it', async () => {
    await using ownService = await startService();
    const user = await register(ownService.app);
    const { sql } = ownService.context.database;
    await sql.unsafe(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
      create trigger refuse before insert on tasks for each row when (new.title = 'Bad') execute function refuse()`);
    const operations = [create('Good'), create('Bad')];
    for (const atomic of [false, true]) {
      const answer = await user
        .as('post', '/tasks/batch')
        .set('Idempotency-Key', 'k')
        .send({ operations, atomic });
      expect([answer.status, await titlesOf(user)]).toEqual([500, []]);
    }
    await sql.unsafe('drop trigger refuse on tasks');
    const answer = await user.as('post', '/tasks/batch').set('Idempotency-Key', 'k').send({ operations });
    expect([answer.status, await titlesOf(user)]).toEqual([200, ['Good', 'Bad']]);
  });
});

describe('a body', () => {
  test.each([
    ['operations', undefined, ['operations']],
    ['operations', [], ['operations']],
    ['operations', [remove(unknownId), null], ['operations.1']],
    ['operations', [remove(unknownId), { op: 'upsert' }], ['operations.1.op']],
    ['operations', [{ task: { title: 'x' } }], ['operations.0.op']],
    ['operations', [{ op: 'create' }], ['operations.0.task']],
    ['operations', [{ op: 'create', id: unknownId, task: { title: 'x' } }], ['operations.0.id']],
    ['operations', [create('x'), create('')], ['operations.1.task.title']],
    ['operations', [create('x', { version: 3 })], ['operations.0.task.version']],
    ['operations', [create('x', { dueAt: '2030-05-01T07:30:00.000Z' })], ['operations.0.task.dueAt']],
    ['operations', [patch('1', {})], ['operations.0.id']],
    ['operations', [{ op: 'patch', id: unknownId }], ['operations.0.task']],
    ['operations', [patch(unknownId, { listId: unknownId })], ['operations.0.task.listId']],
    ['operations', [patch(unknownId, { title: null })], ['operations.0.task.title']],
    ['operations', [remove(unknownId, { task: {} })], ['operations.0.task']],
    ['operations', [remove(unknownId, { ifMatch: '1' })], ['operations.0.ifMatch']],
    ['operations', [remove(unknownId, { ifMatch: 1 })], ['operations.0.ifMatch']],
    ['atomic', 'yes', ['atomic']],
    ['dryRun', true, ['dryRun']],
  ])('whose %s is %j is refused completely, and the field is named', async (field, value, names) => {
    const body = { operations: [create('Never')], [field]: value };
    const { status, body: problem } = await ada.as('post', '/tasks/batch').send(body);
    expect([status, Object.keys(problem.errors)]).toEqual([400, names]);
    expect(await titlesOf(ada)).not.toContain('Never');
  });

  test.each([
    ['elements', `{"operations":[${'{},'.repeat(600_000)}{}]}`],
    [
      'fields',
      `{"operations":[{"op":"create","task":{${Array.from({ length: 11_000 }, (_, index) => `"f${index}":1`).join(',')}}}]}`,
    ],
  ])(
    'may have 10,000 values; a body with more %s is refused before it is parsed',
    async (_description, json) => {
      const { status, body } = await ada
        .as('post', '/tasks/batch')
        .set('Content-Type', 'application/json')
        .send(json);
      expect([status, body.code]).toEqual([400, 'too_many_values']);
    },
  );

  test('may contain commas in texts, which do not count as values', async () => {
    const operations = Array.from({ length: 100 }, () => ({
      op: 'create',
      task: { title: 'T', description: ','.repeat(200) },
    }));
    const { status } = await ada.as('post', '/tasks/batch').send({ operations });
    expect(status).toBe(200);
  });

  test('may have 100 operations and 2 MiB', async () => {
    const user = await register(service.app);
    const operations = Array.from({ length: 100 }, (_, n) =>
      create(`Task ${n}`, { description: 'x'.repeat(10_000) }),
    );
    const text = JSON.stringify({ operations });
    const post = (body: string) =>
      user.as('post', '/tasks/batch').set('Content-Type', 'application/json').send(body);
    const large = await post(text.padEnd(2 * 2 ** 20));
    expect([large.status, large.body.results.length]).toEqual([200, 100]);
    const { status, body } = await post(text.padEnd(2 * 2 ** 20 + 1));
    expect([status, body.code]).toEqual([413, 'too_large']);
    const tooMany = await send(
      user,
      [...operations, create('One more')].map((operation) => ({ ...operation, task: { title: 'x' } })),
    );
    expect([tooMany.status, tooMany.body.errors]).toEqual([
      400,
      { operations: ['must have at most 100 items'] },
    ]);
    expect(await titlesOf(user)).toHaveLength(100);
  });

  test('must be JSON sent with POST by a user who is logged in', async () => {
    const asUnknown = bearerOf(service.app, 'x');
    expect((await send({ as: asUnknown }, [create('x')])).status).toBe(401);
    const text = await ada.as('post', '/tasks/batch').set('Content-Type', 'text/plain').send('{}');
    expect(text.status).toBe(415);
    const get = await ada.as('get', '/tasks/batch');
    expect([get.status, get.headers['allow']]).toEqual([405, 'POST']);
  });
});

describe('an Idempotency-Key', () => {
  const sendWithKey = ({ as }: Registered, key: string, operations: object[]) =>
    as('post', '/tasks/batch').set('Idempotency-Key', key).send({ operations });

  test('makes a repeat return the first results, including refused operations', async () => {
    const user = await register(service.app);
    const [id = ''] = await createTasks(user, 'One');
    const operations = [
      create('Two'),
      patch(id, { title: 'Changed' }, { ifMatch: '"1"' }),
      remove(unknownId),
    ];
    const first = await sendWithKey(user, 'k', operations);
    expect(outcomesOf(first.body.results as Result[])).toEqual([201, 200, 'not_found']);
    await user.as('patch', `/tasks/${id}`).send({ title: 'Since' }).expect(200);
    const second = await sendWithKey(user, 'k', operations);
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(await titlesOf(user)).toEqual(['Since', 'Two']);
  });

  test('sent many times at once to two instances runs the operations once', async () => {
    await using other = await startService({ databaseUrl: service.databaseUrl });
    const user = await register(service.app);
    const atOther = { ...user, as: bearerOf(other.app, user.token) };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => sendWithKey(n % 2 === 0 ? user : atOther, 'k', [create('Once')])),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size).toBe(1);
    expect(await titlesOf(user)).toEqual(['Once']);
  });

  test('is refused with another body, or if another endpoint used it', async () => {
    const user = await register(service.app);
    await sendWithKey(user, 'k', [create('Once')]).expect(200);
    await user.as('post', '/tasks').set('Idempotency-Key', 'single').send({ title: 'Single' }).expect(201);
    for (const [key, operations] of [
      ['k', [create('Twice')]],
      ['single', [create('Single')]],
    ] as const) {
      const { status, body } = await sendWithKey(user, key, [...operations]);
      expect([status, body.code]).toEqual([422, 'idempotency_key_reused']);
    }
    expect(await titlesOf(user)).toEqual(['Once', 'Single']);
  });

  test('can be used again after an atomic batch was refused', async () => {
    const user = await register(service.app);
    const post = (operations: object[]) =>
      user.as('post', '/tasks/batch').set('Idempotency-Key', 'k').send({ operations, atomic: true });
    expect((await post([create('One'), remove(unknownId)])).body.code).toBe('batch_refused');
    expect((await post([create('One')])).status).toBe(200);
  });
});

describe('in a list', () => {
  test('each operation needs the rights of its user', async () => {
    const [owner, editor, viewer] = [
      await register(service.app),
      await register(service.app),
      await register(service.app),
    ];
    const list = await createList(owner);
    await list.join(editor, 'editor');
    await list.join(viewer, 'viewer');
    const [created] = await resultsOf(editor, [
      create('Bread', { listId: list.id, assigneeId: viewer.user.id }),
    ]);
    const id = created?.task?.id ?? '';
    const operations = [
      create('Milk', { listId: list.id }),
      patch(id, { title: 'Brown bread' }),
      create('My own'),
      remove(id),
    ];
    expect(outcomesOf(await resultsOf(viewer, operations))).toEqual([
      'role_required',
      'role_required',
      201,
      'role_required',
    ]);
    expect(outcomesOf(await resultsOf(ada, operations))).toEqual([
      'not_found',
      'not_found',
      201,
      'not_found',
    ]);
    expect(outcomesOf(await resultsOf(owner, operations))).toEqual([201, 200, 201, 204]);
  });

  test('overlapping batches of an editor do not prevent the owner from removing them', async () => {
    const { sql } = service.context.database;
    const [owner, editor] = [await register(service.app), await register(service.app)];
    const list = await createList(owner);
    await list.join(editor, 'editor');
    const expectWaiting = (count: number) =>
      expect
        .poll(
          () =>
            sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        .toHaveLength(count);
    const locks = postgres(service.databaseUrl, { max: 1 });
    const requests = await locks.begin(async (tx) => {
      // Takes the locks of a running batch.
      await lockLists(tx, [list.id]);
      const removal = Promise.resolve(
        owner.as('patch', `/lists/${list.id}`).send({ members: { [editor.email]: null } }),
      );
      await expectWaiting(1);
      const batch = send(editor, [create('Bread', { listId: list.id })]).then(({ body }) =>
        outcomesOf(body.results),
      );
      await expectWaiting(2);
      return { removal, batch };
    });
    await locks.end();
    expect((await requests.removal).status).toBe(200);
    expect(await requests.batch).toEqual(['not_found']);
  });
});

describe('limits', () => {
  test('a batch is limited by MAX_TASKS_PER_USER like single requests', async () => {
    await using ownService = await startService({ variables: { MAX_TASKS_PER_USER: '3' } });
    const user = await register(ownService.app);
    const results = await resultsOf(
      user,
      ['a', 'b', 'c', 'd'].map((title) => create(title)),
    );
    expect(outcomesOf(results)).toEqual([201, 201, 201, 'too_many_tasks']);
  });

  test('each operation counts as a request for the rate limit of the user', async () => {
    await using ownService = await startService({ variables: { RATE_LIMIT: 'on' } });
    const user = await register(ownService.app);
    const remainingOf = ({ headers }: { headers: Record<string, string> }): number =>
      Number(/r=(\d+)/.exec(headers['ratelimit'] ?? '')?.[1]);
    const before = remainingOf(await user.as('get', '/tasks'));
    const after = remainingOf(
      await send(
        user,
        Array.from({ length: 50 }, () => remove(unknownId)),
      ),
    );
    expect(before - after).toBe(50);
  });
});

test('batches with the same tasks in opposite orders at two instances do not deadlock', async () => {
  await using other = await startService({ databaseUrl: service.databaseUrl });
  const [owner, editor] = [await register(service.app), await register(service.app)];
  const lists = [await createList(owner, 'A'), await createList(owner, 'B')];
  for (const list of lists) await list.join(editor);
  const tasks = Array.from({ length: 40 }, (_, n) => create(`Task ${n}`, { listId: lists[n % 2]?.id }));
  const ids = (await resultsOf(owner, tasks)).map(({ task }) => task?.id ?? '');
  const atOther = { as: bearerOf(other.app, editor.token) };
  for (let round = 0; round < 10; round++) {
    const operations = ids.map((id) => patch(id, { title: `Round ${round}` }));
    const reversed = operations
      .toReversed()
      .map((operation) => ({ ...operation, task: { title: `Back ${round}` } }));
    const answers = await Promise.all([send(owner, operations), send(atOther, reversed)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    // The batches run one after the other: each sees all tasks at the same version.
    const versions = answers.map(
      ({ body }) => new Set((body.results as Result[]).map(({ task }) => task?.version)),
    );
    expect(new Set(versions.map((distinctVersions) => [...distinctVersions].join()))).toEqual(
      new Set([`${2 * round + 2}`, `${2 * round + 3}`]),
    );
  }
});
