import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createList, register, startService, type Registered } from '../../test/harness.ts';

/** What an operation is about: one of these tasks, or one that a former operation has created. */
const tasks = 4;

const fields = fc.record(
  {
    title: fc.constantFrom('Bread', 'Milk', 'Eggs'),
    status: fc.constantFrom('todo', 'done'),
    description: fc.constantFrom('', 'Two of them'),
    dueDate: fc.constantFrom(null, '2030-05-01'),
    mine: fc.boolean(),
  },
  { requiredKeys: [] },
);

const draft = fc.record({
  op: fc.constantFrom('create', 'patch', 'patch', 'patch', 'delete'),
  task: fc.nat(tasks),
  fields,
  version: fc.option(fc.integer({ min: 1, max: 3 })),
  shared: fc.boolean(),
});

type Draft = typeof draft extends fc.Arbitrary<infer T> ? T : never;

interface Result {
  status: number;
  task?: { completedAt?: unknown };
  problem?: { code: string };
}

/** A user with a list in which they may do as much as the other one, and tasks in it and beside it. */
interface World {
  user: Registered;
  listId: string;
  ids: string[];
}

const unknown = '01900000-0000-7000-8000-000000000000';

/** The operation of a draft, for a world. */
const operationOf = ({ op, task, fields: { mine, ...fields }, version, shared }: Draft, world: World) => {
  const assignee = mine === undefined ? {} : { assigneeId: mine ? world.user.user.id : null };
  const id = world.ids[task] ?? unknown;
  const ifMatch = version === null ? {} : { ifMatch: `"${version}"` };
  if (op === 'create') {
    const listId = shared ? world.listId : null;
    return { op, task: { title: 'New', ...fields, ...assignee, listId } };
  }
  return op === 'delete' ? { op, id, ...ifMatch } : { op, id, ...ifMatch, task: { ...fields, ...assignee } };
};

/** Sends an operation as a request of its own. */
const sendAlone = async ({ as }: Registered, operation: ReturnType<typeof operationOf>): Promise<Result> => {
  const request =
    operation.op === 'create'
      ? as('post', '/tasks').send(operation.task)
      : operation.op === 'patch'
        ? as('patch', `/tasks/${operation.id}`)
        : as('delete', `/tasks/${operation.id}`);
  if ('ifMatch' in operation && operation.ifMatch !== undefined)
    void request.set('If-Match', operation.ifMatch);
  const { status, body } = await (operation.op === 'patch' ? request.send(operation.task) : request);
  if (status >= 400) return { status, problem: body };
  return status === 204 ? { status } : { status, task: body };
};

test('a batch answers and leaves what its operations do one after the other', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const pairs: [owner: Registered, user: Registered][] = [];
  for (const _ of [1, 2]) pairs.push([await register(service.app), await register(service.app)]);

  const createWorld = async ([owner, user]: [Registered, Registered], role: string): Promise<World> => {
    const list = await createList(owner);
    await list.join(user, 'editor');
    const ids: string[] = [];
    for (let n = 0; n < tasks; n++) {
      const listId = n % 2 === 0 ? list.id : null;
      ids.push((await user.as('post', '/tasks').send({ title: `Task ${n}`, listId })).body.id as string);
    }
    await list.invite(user.email, role);
    return { user, listId: list.id, ids };
  };
  /** Without what differs between two worlds that are alike. */
  const shownOf =
    ({ user, listId }: World) =>
    ({ status, task, problem }: Result) => {
      const same = { ...task, completedAt: null, id: null, createdAt: null, updatedAt: null };
      const alike = JSON.stringify(same).replaceAll(user.user.id, 'me').replaceAll(listId, 'list');
      return { status, code: problem?.code, task: alike, isDone: typeof task?.completedAt === 'string' };
    };
  const stateOf = async (world: World) => {
    const { as } = world.user;
    const lists = [
      await as('get', '/tasks?sort=createdAt'),
      await as('get', `/tasks?sort=createdAt&list=${world.listId}`),
    ];
    return lists.map(({ status, body }) =>
      (body.tasks as object[]).map((task) => shownOf(world)({ status, task })),
    );
  };
  const attempt = async (drafts: readonly Draft[], role: string, atomic: boolean): Promise<void> => {
    await sql`delete from tasks`;
    await sql`delete from lists`;
    const [alone, together] = (await Promise.all(pairs.map((pair) => createWorld(pair, role)))) as [
      World,
      World,
    ];
    const before = await stateOf(together);
    const expected: Result[] = [];
    for (const each of drafts) expected.push(await sendAlone(alone.user, operationOf(each, alone)));
    const operations = drafts.map((each) => operationOf(each, together));
    const { status, body } = await together.user.as('post', '/tasks/batch').send({ operations, atomic });
    const refused = atomic ? expected.findIndex((result) => result.problem !== undefined) : -1;
    const { status: whole, code, operation, problem } = { ...body, status };
    expect({
      whole,
      code,
      operation,
      refusal: problem?.code,
      results: body.results?.map(shownOf(together)),
    }).toEqual(
      refused >= 0
        ? {
            whole: 409,
            code: 'batch_refused',
            operation: refused,
            refusal: expected[refused]?.problem?.code,
          }
        : { whole: 200, results: expected.map(shownOf(alone)) },
    );
    expect(await stateOf(together)).toEqual(refused >= 0 ? before : await stateOf(alone));
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(draft, { minLength: 1, maxLength: 12 }),
      fc.constantFrom('editor', 'editor', 'viewer'),
      fc.constantFrom(false, false, true),
      attempt,
    ),
    { numRuns: 25 },
  );
});
