import { setTimeout as sleep } from 'node:timers/promises';
import { openStream } from '@platform/feed/testing';
import fc from 'fast-check';
import postgres, { type Sql, type TransactionSql } from 'postgres';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createList, register, startService, type Registered } from './harness.ts';

interface Item {
  id: string;
  listId: string | null;
}

interface Change {
  id: string;
  item?: Item;
}

interface Page {
  changes: Change[];
  next: string;
  has_more: boolean;
}

let service: Awaited<ReturnType<typeof startService>>;
let other: Sql;
beforeAll(async () => {
  service = await startService();
  other = postgres(service.databaseUrl, { max: 4 });
});
afterAll(async () => {
  await other.end();
  await service[Symbol.asyncDispose]();
});

/** A write of one of nine tasks. `owner` is the first list, the second list, or the user. */
const write = fc.record({
  op: fc.constantFrom('insert', 'insert', 'update', 'move', 'delete'),
  task: fc.nat(8),
  owner: fc.nat(2),
});
const transaction = { pauseMs: fc.nat(6), commits: fc.boolean() };
const histories = fc.record({
  tasks: fc.array(fc.record({ ...transaction, writes: fc.array(write, { minLength: 1, maxLength: 3 }) }), {
    minLength: 8,
    maxLength: 16,
  }),
  // Each entry makes Ben join or leave one of the lists.
  members: fc.array(fc.record({ ...transaction, list: fc.nat(1) }), { minLength: 3, maxLength: 8 }),
});
type History = typeof histories extends fc.Arbitrary<infer T> ? T : never;

const rolledBack = new Error('rolled back');
const inTransaction = (
  { pauseMs, commits }: { pauseMs: number; commits: boolean },
  work: (tx: TransactionSql) => Promise<void>,
): Promise<void> =>
  other
    .begin(async (tx) => {
      await work(tx);
      await sleep(pauseMs);
      if (!commits) throw rolledBack;
    })
    .catch((error: unknown) => {
      if (error !== rolledBack) throw error;
    });

/** Two users: Ben joins and leaves lists of Ada. */
const createWorld = async () => {
  const [ada, ben] = [await register(service.app), await register(service.app)];
  const lists = [(await createList(ada)).id, (await createList(ada)).id] as const;
  /** The lists in which Ben is certainly not a member, and since when. */
  const closed = new Map<string, number>(lists.map((id) => [id, performance.now()]));
  return { ada, ben, lists, closed, ids: Array.from({ length: 9 }, () => uuidv7()) };
};
type World = Awaited<ReturnType<typeof createWorld>>;

const writeTasks = async ({ ben, lists, ids }: World, { tasks }: History): Promise<void> => {
  for (const { writes, ...options } of tasks)
    await inTransaction(options, async (tx) => {
      // Locks the lists as the service does for each change of a task.
      await tx`select from lists where id = any(${lists}::uuid[]) order by id for share`;
      for (const { op, task, owner } of writes) {
        const [id, ownerId, listId] = [ids[task] ?? '', lists[owner] ?? ben.user.id, lists[owner] ?? null];
        if (op === 'insert')
          await tx`
            insert into tasks (owner_id, id, list_id, title, description, status, priority, tags, created_at, updated_at, version)
            select ${ownerId}, ${id}, ${listId}, 'x', '', 'todo', 'medium', '{}', now(), now(), 1
            where not exists (select from tasks where id = ${id})`;
        else if (op === 'update') await tx`update tasks set version = version + 1 where id = ${id}`;
        else if (op === 'move')
          await tx`update tasks set owner_id = ${ownerId}, list_id = ${listId} where id = ${id}`;
        else await tx`delete from tasks where id = ${id}`;
      }
    });
};

const changeMembers = async ({ ben, lists, closed }: World, { members }: History): Promise<void> => {
  for (const { list, ...options } of members) {
    const id = lists[list] ?? '';
    const wasClosed = closed.get(id);
    closed.delete(id);
    await inTransaction(options, async (tx) => {
      await tx`select from lists where id = ${id} for update`;
      await (wasClosed === undefined
        ? tx`delete from list_members where list_id = ${id} and user_id = ${ben.user.id}`
        : tx`insert into list_members (list_id, email, user_id, role, invitation, invited_at)
            values (${id}, ${ben.email}, ${ben.user.id}, 'viewer', ${uuidv7()}, now())`);
    });
    if (options.commits ? wasClosed === undefined : wasClosed !== undefined)
      closed.set(id, performance.now());
    await sleep(options.pauseMs);
  }
};

const url = (suffix: string): string => `${service.url}/v1/feeds/task-manager/tasks${suffix}`;

/** Maintains a copy for a user: exports, follows, and exports again after 410, until `isOver` and all changes are read. */
const maintainCopy = async (
  user: Registered,
  mode: 'pages' | 'stream',
  world: World,
  isOver: () => boolean,
): Promise<{ copy: ReadonlyMap<string, Item>; exports: number }> => {
  const headers = { Authorization: `Bearer ${user.token}` };
  const copy = new Map<string, Item>();
  const request = async (suffix: string) => {
    const startedAt = performance.now();
    const answer = await fetch(url(suffix), { headers });
    const text = await answer.text();
    expect([200, 410]).toContain(answer.status);
    if (user === world.ben)
      // The response contains no task of a list in which Ben was not a member during the whole request.
      for (const [list, since] of world.closed)
        if (since < startedAt) expect(text).not.toContain(`"listId":"${list}"`);
    return { status: answer.status, text };
  };
  const apply = ({ id, item }: Change): void => {
    if (item === undefined) copy.delete(id);
    else copy.set(id, item);
  };
  for (let exports = 1; ; exports++) {
    const lines = (await request('/export')).text.trim().split('\n');
    let { cursor: next } = JSON.parse(lines[0] ?? '') as { cursor: string };
    copy.clear();
    for (const item of lines.slice(1).map((line) => JSON.parse(line) as Item)) apply({ id: item.id, item });
    if (mode === 'stream') {
      using stream = await openStream(url(`?after=${next}`), headers);
      let isEnded = false;
      void stream.ended.then(
        () => (isEnded = true),
        () => undefined,
      );
      await expect.poll(() => isEnded || isOver(), { interval: 5 }).toBe(true);
      for (const { data, id } of stream.events) {
        if (data !== undefined) apply(JSON.parse(data) as Change);
        next = id ?? next;
      }
    }
    for (;;) {
      const wasOver = isOver();
      const { status, text } = await request(`?after=${next}&limit=3&wait=${wasOver ? 0 : 1}`);
      if (status === 410) break;
      const page = JSON.parse(text) as Page;
      for (const change of page.changes) apply(change);
      next = page.next;
      if (wasOver && !page.has_more) return { copy, exports };
    }
  }
};

const sorted = (items: Item[]): Item[] => items.toSorted((a, b) => (a.id < b.id ? -1 : 1));

test('despite concurrent writes, a copy that follows the feed has the tasks that its user may see; only one who joins and leaves lists exports again', async () => {
  const exports: number[] = [];
  const attempt = async (history: History): Promise<void> => {
    const world = await createWorld();
    let isOver = false;
    const readers = [
      maintainCopy(world.ada, 'pages', world, () => isOver),
      maintainCopy(world.ben, 'pages', world, () => isOver),
      maintainCopy(world.ben, 'stream', world, () => isOver),
    ];
    await Promise.all([writeTasks(world, history), changeMembers(world, history)]);
    // A last change for each user wakes the waiting readers.
    for (const { as } of [world.ada, world.ben])
      await as('post', '/tasks').send({ title: 'Last' }).expect(201);
    isOver = true;
    const [ofAda, ...ofBen] = await Promise.all(readers);
    for (const [user, copies] of [
      [world.ada, [ofAda]],
      [world.ben, ofBen],
    ] as const) {
      const rows = await other<{ json: string }[]>`
        select json from tasks where owner_id = ${user.user.id} or owner_id in (
          select list_id from list_members where user_id = ${user.user.id})`;
      const visibleTasks = sorted(rows.map(({ json }) => JSON.parse(json) as Item));
      for (const result of copies) expect(sorted([...(result?.copy.values() ?? [])])).toEqual(visibleTasks);
    }
    expect(ofAda?.exports).toBe(1);
    exports.push(...ofBen.map((result) => result.exports));
  };
  await fc.assert(fc.asyncProperty(histories, attempt), { numRuns: 6, endOnFailure: true });
  expect(Math.max(...exports)).toBeGreaterThan(1);
});
