import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createList, register, startService, type Registered } from '../../test/harness.ts';

/** Number of existing tasks. An operation refers to one of them or to an unknown task. */
const taskCount = 4;

const fields = fc.record(
  {
    title: fc.constantFrom('Bread', 'Milk', 'Eggs'),
    status: fc.constantFrom('todo', 'done'),
    description: fc.constantFrom('', 'Two of them'),
    dueDate: fc.constantFrom(null, '2030-05-01'),
    assignToMe: fc.boolean(),
  },
  { requiredKeys: [] },
);

const draft = fc.record({
  op: fc.constantFrom('create', 'patch', 'patch', 'patch', 'delete'),
  task: fc.nat(taskCount),
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

/** A user with a shared list, and tasks inside and outside of it. */
interface World {
  user: Registered;
  listId: string;
  ids: string[];
}

const unknownId = '01900000-0000-7000-8000-000000000000';

/** Creates the operation of a draft for a world. */
const operationOf = (
  { op, task, fields: { assignToMe, ...fields }, version, shared }: Draft,
  world: World,
) => {
  const assignee = assignToMe === undefined ? {} : { assigneeId: assignToMe ? world.user.user.id : null };
  const id = world.ids[task] ?? unknownId;
  const ifMatch = version === null ? {} : { ifMatch: `"${version}"` };
  if (op === 'create') {
    const listId = shared ? world.listId : null;
    return { op, task: { title: 'New', ...fields, ...assignee, listId } };
  }
  return op === 'delete' ? { op, id, ...ifMatch } : { op, id, ...ifMatch, task: { ...fields, ...assignee } };
};

/** Sends an operation as a single request. */
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

test('a batch has the same results and effects as its operations sent one after the other', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const pairs: [owner: Registered, user: Registered][] = [];
  for (const _ of [1, 2]) pairs.push([await register(service.app), await register(service.app)]);

  const createWorld = async ([owner, user]: [Registered, Registered], role: string): Promise<World> => {
    const list = await createList(owner);
    await list.join(user, 'editor');
    const ids: string[] = [];
    for (let n = 0; n < taskCount; n++) {
      const listId = n % 2 === 0 ? list.id : null;
      ids.push((await user.as('post', '/tasks').send({ title: `Task ${n}`, listId })).body.id as string);
    }
    await list.invite(user.email, role);
    return { user, listId: list.id, ids };
  };
  /** Removes ids and times from a result, which differ between two equal worlds. */
  const comparableResult =
    ({ user, listId }: World) =>
    ({ status, task, problem }: Result) => {
      const taskWithoutIds = { ...task, completedAt: null, id: null, createdAt: null, updatedAt: null };
      const comparableTask = JSON.stringify(taskWithoutIds)
        .replaceAll(user.user.id, 'me')
        .replaceAll(listId, 'list');
      return {
        status,
        code: problem?.code,
        task: comparableTask,
        isDone: typeof task?.completedAt === 'string',
      };
    };
  const stateOf = async (world: World) => {
    const { as } = world.user;
    const lists = [
      await as('get', '/tasks?sort=createdAt'),
      await as('get', `/tasks?sort=createdAt&list=${world.listId}`),
    ];
    return lists.map(({ status, body }) =>
      (body.tasks as object[]).map((task) => comparableResult(world)({ status, task })),
    );
  };
  const attempt = async (drafts: readonly Draft[], role: string, atomic: boolean): Promise<void> => {
    await sql`delete from tasks`;
    await sql`delete from lists`;
    const [singleWorld, batchWorld] = (await Promise.all(pairs.map((pair) => createWorld(pair, role)))) as [
      World,
      World,
    ];
    const before = await stateOf(batchWorld);
    const expected: Result[] = [];
    for (const operationDraft of drafts)
      expected.push(await sendAlone(singleWorld.user, operationOf(operationDraft, singleWorld)));
    const operations = drafts.map((operationDraft) => operationOf(operationDraft, batchWorld));
    const { status, body } = await batchWorld.user.as('post', '/tasks/batch').send({ operations, atomic });
    const refusedIndex = atomic ? expected.findIndex((result) => result.problem !== undefined) : -1;
    const { status: batchStatus, code, operation, problem } = { ...body, status };
    expect({
      batchStatus,
      code,
      operation,
      refusal: problem?.code,
      results: body.results?.map(comparableResult(batchWorld)),
    }).toEqual(
      refusedIndex >= 0
        ? {
            batchStatus: 409,
            code: 'batch_refused',
            operation: refusedIndex,
            refusal: expected[refusedIndex]?.problem?.code,
          }
        : { batchStatus: 200, results: expected.map(comparableResult(singleWorld)) },
    );
    expect(await stateOf(batchWorld)).toEqual(refusedIndex >= 0 ? before : await stateOf(singleWorld));
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
