import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bearerOf, createList, register, startService, type Registered } from '../../test/harness.ts';
import { apply, startModel, type Model, type Operation } from '../../test/list-model.ts';

const user = fc.nat(3);
const place = { by: user, list: fc.nat(1), to: user, pick: fc.nat(20) };
const draft = fc.record({
  ...place,
  kind: fc.constantFrom(
    ...(['give', 'give', 'give', 'remove', 'join', 'join', 'join'] as const),
    ...(['create', 'create', 'assign', 'assign', 'drop', 'end'] as const),
  ),
  role: fc.constantFrom('owner', 'editor', 'editor', 'viewer'),
});

type Draft = typeof draft extends fc.Arbitrary<infer T> ? T : never;

/** The operation that a draft means in this state: with a title or an invitation that is there, where one is. */
const operationOf = ({ by, list, to, pick, kind, role }: Draft, model: Model, serial: number): Operation => {
  const place = { by, list };
  const titles = Object.keys(model[list]?.tasks ?? {});
  const title = titles[pick % (titles.length + 1)] ?? `unknown ${serial}`;
  const orNobody = pick % 4 === 0 ? null : to;
  switch (kind) {
    case 'give':
      return { ...place, kind, to, role, serial };
    case 'remove':
      return { ...place, kind, to };
    case 'join': {
      const whose = pick % 5 === 0 ? to : by;
      return { ...place, kind, to: whose, invitation: model[list]?.members[whose]?.invitation };
    }
    case 'create':
      return { ...place, kind, title: `task ${serial}`, to: orNobody };
    case 'assign':
      return { ...place, kind, title, to: orNobody };
    case 'drop':
      return { ...place, kind, title };
    default:
      return pick === 0 ? { ...place, kind: 'end' } : { ...place, kind: 'remove', to };
  }
};

/** What each order of two operations would answer and leave. */
const ordersOf = (model: Model, [first, second]: readonly [Operation, Operation]) => {
  const [one, two] = [structuredClone(model), structuredClone(model)];
  const secondFirst = apply(two, second);
  return [
    { statuses: [apply(one, first), apply(one, second)], model: one },
    { statuses: [apply(two, first), secondFirst], model: two },
  ];
};

test('random operations of four users at two instances, two at a time, end as in a model, in one of both orders', async () => {
  await using service = await startService();
  await using other = await startService({ databaseUrl: service.databaseUrl });
  const users: Registered[] = [];
  for (let n = 0; n < 4; n++) users.push(await register(service.app));
  const { sql } = service.context.database;
  const emailOf = (n: number): string => users[n]?.email ?? '';
  const idOf = (n: number | null): string | null => (n === null ? null : (users[n]?.user.id ?? null));
  const numberOf = (userId: string | null): number | null =>
    userId === null ? null : users.findIndex((each) => each.user.id === userId);

  const attempt = async (steps: readonly (readonly [Draft, Draft])[]): Promise<void> => {
    const lists = [await createList(users[0] as Registered), await createList(users[1] as Registered)];
    const tasks = new Map<string, string>();

    const codeOf = async (list: number, to: number): Promise<string> => {
      const listId = lists[list]?.id ?? '';
      const [row] = await sql<{ invitation: string }[]>`
          select invitation from list_members where list_id = ${listId} and email = ${emailOf(to)}`;
      return service.context.invitations.codeOf({ owner: listId, id: row?.invitation ?? randomUUID() });
    };
    /** Prepares the request of an operation; the result sends it. */
    const prepare = async (operation: Operation, app: typeof service.app) => {
      const as = bearerOf(app, users[operation.by]?.token ?? '');
      const { id: listId = '', path = '' } = lists[operation.list] ?? {};
      switch (operation.kind) {
        case 'give':
          return () =>
            as('patch', path).send({ members: { [emailOf(operation.to)]: { role: operation.role } } });
        case 'remove':
          return () => as('patch', path).send({ members: { [emailOf(operation.to)]: null } });
        case 'join': {
          const code = await codeOf(operation.list, operation.to);
          return () => as('post', '/lists/join').send({ code });
        }
        case 'create':
          return () =>
            as('post', '/tasks').send({
              title: operation.title,
              listId,
              assigneeId: idOf(operation.to),
            });
        case 'assign':
        case 'drop': {
          const task = `/tasks/${tasks.get(`${listId} ${operation.title}`) ?? randomUUID()}`;
          if (operation.kind === 'drop') return () => as('delete', task);
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
                users.findIndex((each) => each.email === email),
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
    const shown = (model: Model) =>
      model.map((list) => ({
        members: Object.fromEntries(
          Object.entries(list.members).map(([n, { role, joined }]) => [n, { role, joined }]),
        ),
        tasks: list.tasks,
      }));

    let model = startModel([0, 1]);
    for (const [n, pair] of steps.entries()) {
      const operations = pair.map((each, at) => operationOf(each, model, 2 * n + at)) as [
        Operation,
        Operation,
      ];
      const send = [await prepare(operations[0], service.app), await prepare(operations[1], other.app)];
      const answers = await Promise.all(send.map((each) => each()));
      const result = { statuses: answers.map(({ status }) => status), state: await readState() };
      const orders = ordersOf(model, operations);
      const fitting = orders.find((order) =>
        isDeepStrictEqual({ statuses: order.statuses, state: shown(order.model) }, result),
      );
      expect(fitting, JSON.stringify({ operations, before: model, result, orders })).toBeDefined();
      model = fitting?.model ?? model;
    }
    for (const [at, { id, path }] of lists.entries())
      for (const [n, { as }] of users.entries()) {
        const status = model[at]?.members[n]?.joined === true ? 200 : 404;
        expect((await as('get', path)).status).toBe(status);
        const list = await as('get', `/tasks?limit=200&list=${id}`);
        expect(list.status).toBe(status);
        const titles = (list.body.tasks ?? []).map(({ title }: { title: string }) => title);
        expect(titles.toSorted()).toEqual(
          status === 200 ? Object.keys(model[at]?.tasks ?? {}).toSorted() : [],
        );
      }
  };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(draft, draft), { minLength: 20, maxLength: 60 }), attempt),
    { numRuns: 20 },
  );
});
