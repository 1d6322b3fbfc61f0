import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bearerOf, createList, register, startService, type Registered } from '../../test/harness.ts';
import { apply, startModel, type Model, type Operation } from '../../test/list-model.ts';

const user = fc.nat(3);
/** Random values from which `operationOf` creates an operation. */
const draft = fc.record({
  by: user,
  list: fc.nat(1),
  to: user,
  choice: fc.nat(20),
  kind: fc.constantFrom(
    ...([
      'setRole',
      'setRole',
      'setRole',
      'removeMember',
      'acceptInvitation',
      'acceptInvitation',
      'acceptInvitation',
    ] as const),
    ...(['createTask', 'createTask', 'assignTask', 'assignTask', 'deleteTask', 'deleteList'] as const),
  ),
  role: fc.constantFrom('owner', 'editor', 'editor', 'viewer'),
});

type Draft = typeof draft extends fc.Arbitrary<infer T> ? T : never;

/** Creates the operation of a draft for the current state, mostly with an existing title or invitation. */
const operationOf = (
  { by, list, to, choice, kind, role }: Draft,
  model: Model,
  serial: number,
): Operation => {
  const target = { by, list };
  const titles = Object.keys(model[list]?.tasks ?? {});
  const title = titles[choice % (titles.length + 1)] ?? `unknown ${serial}`;
  const assignee = choice % 4 === 0 ? null : to;
  switch (kind) {
    case 'setRole':
      return { ...target, kind, to, role, serial };
    case 'removeMember':
      return { ...target, kind, to };
    case 'acceptInvitation': {
      const invited = choice % 5 === 0 ? to : by;
      return { ...target, kind, to: invited, invitation: model[list]?.members[invited]?.invitation };
    }
    case 'createTask':
      return { ...target, kind, title: `task ${serial}`, to: assignee };
    case 'assignTask':
      return { ...target, kind, title, to: assignee };
    case 'deleteTask':
      return { ...target, kind, title };
    default:
      return choice === 0 ? { ...target, kind: 'deleteList' } : { ...target, kind: 'removeMember', to };
  }
};

/** Statuses and final model for both orders of two operations. */
const ordersOf = (model: Model, [first, second]: readonly [Operation, Operation]) => {
  const [inOrder, reversed] = [structuredClone(model), structuredClone(model)];
  const secondStatus = apply(reversed, second);
  return [
    { statuses: [apply(inOrder, first), apply(inOrder, second)], model: inOrder },
    { statuses: [apply(reversed, first), secondStatus], model: reversed },
  ];
};

test('random pairs of simultaneous operations of four users at two instances have the result of the model in one of both orders', async () => {
  await using service = await startService();
  await using other = await startService({ databaseUrl: service.databaseUrl });
  const users: Registered[] = [];
  for (let n = 0; n < 4; n++) users.push(await register(service.app));
  const { sql } = service.context.database;
  const emailOf = (n: number): string => users[n]?.email ?? '';
  const idOf = (n: number | null): string | null => (n === null ? null : (users[n]?.user.id ?? null));
  const numberOf = (userId: string | null): number | null =>
    userId === null ? null : users.findIndex(({ user: { id } }) => id === userId);

  const attempt = async (steps: readonly (readonly [Draft, Draft])[]): Promise<void> => {
    const lists = [await createList(users[0] as Registered), await createList(users[1] as Registered)];
    const tasks = new Map<string, string>();

    const codeOf = async (list: number, to: number): Promise<string> => {
      const listId = lists[list]?.id ?? '';
      const [row] = await sql<{ invitation: string }[]>`
          select invitation from list_members where list_id = ${listId} and email = ${emailOf(to)}`;
      return service.context.invitations.codeOf({ parentId: listId, id: row?.invitation ?? randomUUID() });
    };
    /** Prepares the request of an operation; the result sends it. */
    const prepare = async (operation: Operation, app: typeof service.app) => {
      const as = bearerOf(app, users[operation.by]?.token ?? '');
      const { id: listId = '', path = '' } = lists[operation.list] ?? {};
      switch (operation.kind) {
        case 'setRole':
          return () =>
            as('patch', path).send({ members: { [emailOf(operation.to)]: { role: operation.role } } });
        case 'removeMember':
          return () => as('patch', path).send({ members: { [emailOf(operation.to)]: null } });
        case 'acceptInvitation': {
          const code = await codeOf(operation.list, operation.to);
          return () => as('post', '/lists/join').send({ code });
        }
        case 'createTask':
          return () =>
            as('post', '/tasks').send({
              title: operation.title,
              listId,
              assigneeId: idOf(operation.to),
            });
        case 'assignTask':
        case 'deleteTask': {
          const task = `/tasks/${tasks.get(`${listId} ${operation.title}`) ?? randomUUID()}`;
          if (operation.kind === 'deleteTask') return () => as('delete', task);
          return () => as('patch', task).send({ assigneeId: idOf(operation.to) });
        }
        default:
          return () => as('delete', path);
      }
    };
    const readState = async () =>
      Promise.all(
        lists.map(async ({ id }) => {
          const members = await sql`
              select email, role, user_id from list_members where list_id = ${id}`;
          const stored = await sql`
              select title, id, assignee_id, version from tasks where owner_id = ${id}`;
          for (const { title, id: taskId } of stored) tasks.set(`${id} ${title}`, String(taskId));
          return {
            members: Object.fromEntries(
              members.map(({ email, role, user_id: userId }) => [
                users.findIndex((user) => user.email === email),
                { role, joined: userId !== null },
              ]),
            ),
            tasks: Object.fromEntries(
              stored.map(({ title, assignee_id: assignee, version }) => [
                title,
                { assignee: numberOf(assignee), version },
              ]),
            ),
          };
        }),
      );
    const comparableState = (model: Model) =>
      model.map((list) => ({
        members: Object.fromEntries(
          Object.entries(list.members).map(([n, { role, joined }]) => [n, { role, joined }]),
        ),
        tasks: list.tasks,
      }));

    let model = startModel([0, 1]);
    for (const [n, pair] of steps.entries()) {
      const operations = pair.map((draft, index) => operationOf(draft, model, 2 * n + index)) as [
        Operation,
        Operation,
      ];
      const send = [await prepare(operations[0], service.app), await prepare(operations[1], other.app)];
      const answers = await Promise.all(send.map((sendRequest) => sendRequest()));
      const result = { statuses: answers.map(({ status }) => status), state: await readState() };
      const orders = ordersOf(model, operations);
      const matchingOrder = orders.find((order) =>
        isDeepStrictEqual({ statuses: order.statuses, state: comparableState(order.model) }, result),
      );
      expect(matchingOrder, JSON.stringify({ operations, before: model, result, orders })).toBeDefined();
      model = matchingOrder?.model ?? model;
    }
    for (const [index, { id, path }] of lists.entries())
      for (const [n, { as }] of users.entries()) {
        const status = model[index]?.members[n]?.joined === true ? 200 : 404;
        expect((await as('get', path)).status).toBe(status);
        const list = await as('get', `/tasks?limit=200&list=${id}`);
        expect(list.status).toBe(status);
        const titles = (list.body.tasks ?? []).map(({ title }: { title: string }) => title);
        expect(titles.toSorted()).toEqual(
          status === 200 ? Object.keys(model[index]?.tasks ?? {}).toSorted() : [],
        );
      }
  };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(draft, draft), { minLength: 20, maxLength: 60 }), attempt),
    { numRuns: 20 },
  );
});
