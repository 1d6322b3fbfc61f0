import postgres, { type TransactionSql } from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createList, register, startService, type Registered } from '../../test/harness.ts';

let service: Awaited<ReturnType<typeof startService>>;
let other: postgres.Sql;
beforeAll(async () => {
  service = await startService();
  other = postgres(service.databaseUrl, { max: 2 });
});
afterAll(async () => {
  await other.end();
  await service[Symbol.asyncDispose]();
});

const createFamily = async () => {
  const [ada, ben] = [await register(service.app), await register(service.app)];
  const list = await createList(ada);
  await list.join(ben, 'editor');
  return { ada, ben, list };
};

const countWaiting = async (): Promise<number> =>
  (
    await other`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid()`
  ).length;

/** Locks the list and makes a change on another connection, sends a request, and commits the change when the request waits. */
const sendDuringChange = async (
  listId: string,
  change: (tx: TransactionSql) => PromiseLike<unknown>,
  send: () => PromiseLike<{ status: number; body: { code?: string; errors?: object } }>,
) => {
  const { answer } = await other.begin(async (tx) => {
    await tx`select from lists where id = ${listId} for update`;
    await change(tx);
    const sent = Promise.resolve(send());
    await expect.poll(countWaiting).toBe(1);
    return { answer: sent };
  });
  const { status, body } = await answer;
  return [status, body.code];
};

describe('a request that waits for a concurrent change of the list', () => {
  test('is refused if the change makes its user a viewer or removes them', async () => {
    const { ada, ben, list } = await createFamily();
    const { body: task } = await ada.as('post', '/tasks').send({ title: 'Bread', listId: list.id });
    const setRole = (role: string) => (tx: TransactionSql) =>
      tx`update list_members set role = ${role} where list_id = ${list.id} and email = ${ben.email}`;
    const requests = [
      () => ben.as('post', '/tasks').send({ title: 'Milk', listId: list.id }),
      () => ben.as('patch', `/tasks/${task.id}`).send({ title: 'Milk' }),
      () => ben.as('delete', `/tasks/${task.id}`),
    ];
    for (const send of requests) {
      await setRole('editor')(other as unknown as TransactionSql);
      expect(await sendDuringChange(list.id, setRole('viewer'), send)).toEqual([403, 'role_required']);
    }
    await setRole('owner')(other as unknown as TransactionSql);
    const rename = () => ben.as('patch', list.path).send({ name: 'Mine' });
    expect(await sendDuringChange(list.id, setRole('editor'), rename)).toEqual([403, 'role_required']);
    await setRole('owner')(other as unknown as TransactionSql);
    expect(await sendDuringChange(list.id, setRole('editor'), () => ben.as('delete', list.path))).toEqual([
      403,
      'role_required',
    ]);
    const remove = (tx: TransactionSql) => tx`delete from list_members where email = ${ben.email}`;
    expect(await sendDuringChange(list.id, remove, () => requests[0]?.() ?? Promise.reject())).toEqual([
      404,
      'not_found',
    ]);
  });

  test('does not store a task in a deleted list or assign it to a removed member', async () => {
    const { ada, ben, list } = await createFamily();
    const create = (assigneeId: string | null) => () =>
      ada.as('post', '/tasks').send({ title: 'Milk', listId: list.id, assigneeId });
    const { body: task } = await create(null)();
    const leave = (tx: TransactionSql) => tx`delete from list_members where email = ${ben.email}`;
    const rejoin = () => list.join(ben);
    expect(await sendDuringChange(list.id, leave, create(ben.user.id))).toEqual([400, 'validation_failed']);
    await rejoin();
    const assign = () => ada.as('patch', `/tasks/${task.id}`).send({ assigneeId: ben.user.id });
    expect(await sendDuringChange(list.id, leave, assign)).toEqual([400, 'validation_failed']);
    const deleteList = (tx: TransactionSql) => tx`delete from lists where id = ${list.id}`;
    expect(await sendDuringChange(list.id, deleteList, create(null))).toEqual([404, 'not_found']);
    expect(await other`select from tasks where owner_id = ${list.id}`).toHaveLength(1);
  });

  test('does not remove the last owner', async () => {
    const { ada, ben, list } = await createFamily();
    const change = ({ as, email }: Registered, member: object | null) =>
      as('patch', list.path).send({ members: { [email]: member } });
    await ada
      .as('patch', list.path)
      .send({ members: { [ben.email]: { role: 'owner' } } })
      .expect(200);
    const demote = (tx: TransactionSql) =>
      tx`update list_members set role = 'viewer' where list_id = ${list.id} and email = ${ben.email}`;
    expect(await sendDuringChange(list.id, demote, () => change(ada, null))).toEqual([409, 'last_owner']);
  });
});

test('a removal of a member waits for tasks that are being written, and then unassigns them, too', async () => {
  const { ada, ben, list } = await createFamily();
  const { body: task } = await ada.as('post', '/tasks').send({ title: 'Bread', listId: list.id });
  const { answer } = await other.begin(async (tx) => {
    await tx`select from lists where id = ${list.id} for share`;
    const remove = () => ada.as('patch', list.path).send({ members: { [ben.email]: null } });
    const sent = Promise.resolve(remove());
    await expect.poll(countWaiting).toBe(1);
    // Other writers do not wait.
    await ben.as('post', '/tasks').send({ title: 'Milk', listId: list.id }).timeout(5000);
    await tx`update tasks set assignee_id = ${ben.user.id} where owner_id = ${list.id} and id = ${task.id}`;
    return { answer: sent };
  });
  expect((await answer).status).toBe(200);
  const { body } = await ada.as('get', `/tasks/${task.id}`);
  expect(body).toMatchObject({ assigneeId: null, version: 2 });
});

test('an error in the middle of a change leaves the list unchanged', async () => {
  const { ada, ben, list } = await createFamily();
  const before = (await ada.as('get', list.path)).body;
  await other.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
    create trigger refuse before update on lists for each row execute function refuse()`);
  const patch = { name: 'Ours', members: { [ben.email]: null, 'eve@example.test': { role: 'viewer' } } };
  expect((await ada.as('patch', list.path).send(patch)).status).toBe(500);
  await other.unsafe('drop trigger refuse on lists; drop function refuse');
  expect((await ada.as('get', list.path)).body).toEqual(before);
});
