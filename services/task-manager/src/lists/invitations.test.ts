import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createList, newEmail, register, startService } from '../../test/harness.ts';
import { outdatedInvitations } from './queries.ts';

let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const registerTwo = async () => [await register(service.app), await register(service.app)] as const;
const accept = ({ as }: Awaited<ReturnType<typeof register>>, code: string) =>
  as('post', '/lists/join').send({ code });

describe('an invitation', () => {
  test('looks the same for an address with and without an account', async () => {
    const [ada, ben] = await registerTwo();
    const list = await createList(ada);
    const unknown = newEmail();
    const answers = [await list.invite(ben.email), await list.invite(unknown)];
    const invitedMembers = answers.map(({ body }, n) => body.members[[ben.email, unknown][n] ?? '']);
    expect(invitedMembers).toEqual(
      Array.from({ length: 2 }, () => ({ role: 'editor', status: 'invited', userId: null, name: null })),
    );
    expect((await ben.as('get', '/lists')).body.lists).toEqual([]);
  });

  test('is accepted with its code by the account with the address, also repeatedly', async () => {
    const ada = await register(service.app);
    const list = await createList(ada);
    const email = newEmail();
    await list.invite(` ${email.toUpperCase()}`).expect(200);
    const code = await list.codeFor(email);
    const ben = await register(service.app, email);
    for (const _ of [1, 2]) expect((await accept(ben, code).expect(200)).body.id).toBe(list.id);
    const { body } = await ada.as('get', list.path);
    expect(body.members[email]).toMatchObject({ status: 'joined', userId: ben.user.id });
    expect((await ada.as('get', `${list.path}/invitations`)).body).toEqual({ codes: {} });
  });

  test('is not accepted by another account, or with a changed code or the code of another list', async () => {
    const [ada, ben] = await registerTwo();
    const eve = await register(service.app);
    const [list, other] = [await createList(ada), await createList(eve)];
    for (const { invite } of [list, other]) await invite(ben.email).expect(200);
    const code = await list.codeFor(ben.email);
    const [listId = '', invitation = '', mac = ''] = code.split('.');
    const [, , otherMac = ''] = (await other.codeFor(ben.email)).split('.');
    expect((await accept(eve, code)).body.code).toBe('not_found');
    for (const parts of [
      [listId, invitation, otherMac],
      [other.id, invitation, mac],
      [listId, invitation.replace(/^./, (digit) => (digit === '0' ? '1' : '0')), mac],
      [listId, invitation, mac.slice(1)],
      [listId, invitation],
      [listId, invitation, mac, ''],
      ['x'],
      ['ü'],
    ]) {
      const { status, body } = await accept(ben, parts.join('.'));
      expect([parts, status, body.code]).toEqual([parts, 404, 'not_found']);
    }
    for (const invalid of ['', 'x'.repeat(201), 'nul\0'])
      expect((await accept(ben, invalid)).status).toBe(400);
    await accept(ben, code).expect(200);
  });

  test('stays withdrawn, even when the address is invited again', async () => {
    const [ada, ben] = await registerTwo();
    const list = await createList(ada);
    await list.invite(ben.email).expect(200);
    const code = await list.codeFor(ben.email);
    await ada
      .as('patch', list.path)
      .send({ members: { [ben.email]: null } })
      .expect(200);
    expect((await accept(ben, code)).status).toBe(404);
    await list.invite(ben.email).expect(200);
    expect((await accept(ben, code)).status).toBe(404);
    await accept(ben, await list.codeFor(ben.email)).expect(200);
    await ada
      .as('patch', list.path)
      .send({ members: { [ben.email]: null } })
      .expect(200);
    expect((await accept(ben, code)).status).toBe(404);
  });

  test('grants the role that it has at the time of acceptance', async () => {
    const [ada, ben] = await registerTwo();
    const list = await createList(ada);
    await list.invite(ben.email, 'owner').expect(200);
    const code = await list.codeFor(ben.email);
    await list.invite(ben.email, 'viewer').expect(200);
    await accept(ben, code).expect(200);
    expect((await ben.as('patch', list.path).send({ name: 'Mine' })).status).toBe(403);
  });

  test('expires after 14 days and is then deleted, or replaced by the next invitation', async () => {
    const [ada, ben] = await registerTwo();
    const list = await createList(ada);
    await list.invite(ben.email).expect(200);
    const code = await list.codeFor(ben.email);
    const { sql } = service.context.database;
    const setAge = (hours: number) => sql`
      update list_members set invited_at = now() - make_interval(hours => ${hours}) where list_id = ${list.id}`;
    const findOutdated = () =>
      sql.unsafe(`select from list_members where list_id = '${list.id}' and ${outdatedInvitations.outdated}`);
    await setAge(14 * 24 - 1);
    expect(await findOutdated()).toHaveLength(0);
    await setAge(14 * 24 + 1);
    expect(await findOutdated()).toHaveLength(1);
    expect((await accept(ben, code)).status).toBe(404);
    expect((await ada.as('get', `${list.path}/invitations`)).body).toEqual({ codes: {} });
    await list.invite(ben.email).expect(200);
    const nextCode = await list.codeFor(ben.email);
    expect(nextCode).not.toBe(code);
    expect((await accept(ben, code)).status).toBe(404);
    await accept(ben, nextCode).expect(200);
    await setAge(15 * 24);
    expect(await findOutdated()).toHaveLength(0);
  });

  test('is accepted once by many simultaneous requests, which all succeed', async () => {
    const [ada, ben] = await registerTwo();
    const list = await createList(ada);
    await list.invite(ben.email).expect(200);
    const code = await list.codeFor(ben.email);
    const answers = await Promise.all(Array.from({ length: 50 }, () => accept(ben, code)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { sql } = service.context.database;
    expect(await sql`select from list_members where list_id = ${list.id}`).toHaveLength(2);
  });
});
