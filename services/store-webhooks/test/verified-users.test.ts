import { afterAll, expect, test } from 'vitest';
import { startService } from './harness.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());

const identity = 'identity-verification-updated';

/** Creates a store with the user `m-1`, and a function that sends verifications. */
const shopWithUser = async () => {
  const { id, webhookToken } = await service.store();
  const path = `/v1/stores/${id}`;
  const user = { consumerUserId: 'm-1', email: 'ann@example.test' };
  const { body } = await service.admin('POST', `${path}/users`, user);
  const { id: userId } = body as unknown as { id: string };
  return {
    path,
    userPath: `${path}/users/${userId}`,
    user: body,
    verify: async (transactionId: string, status: string, more: object = {}) => {
      const event = { service: 'persona', transactionId, status, userId: 'm-1', ...more };
      await service.hook(`${identity}/${event.service}`, webhookToken, event);
      await service.settled();
    },
  };
};

const get = async (path: string) => (await service.admin('GET', path)).body;

test('a user has the verification that changed last, also in the list, and null if there is none', async () => {
  const { path, userPath, user, verify } = await shopWithUser();
  expect(user['verification']).toBeNull();
  await verify('t-1', 'PENDING');
  await verify('t-2', 'approved', { service: 'veriff' });
  await verify('t-3', 'declined', { userId: 'm-2' });
  const updatedAt = (await get(`${path}/verifications/t-2`))['updatedAt'];
  const verification = { status: 'approved', service: 'veriff', updatedAt };
  expect((await get(userPath))['verification']).toEqual(verification);
  expect((await get(`${path}/users`))['users']).toMatchObject([{ verification }]);
  expect((await get('/v1/stores/-/users'))['users']).toContainEqual(
    expect.objectContaining({ id: user['id'], verification }),
  );
  await verify('t-1', 'APPROVED');
  expect((await get(userPath))['verification']).toMatchObject({ service: 'persona', status: 'APPROVED' });
});

test('a user who is registered after the verification shows it at once', async () => {
  const { path, verify } = await shopWithUser();
  await verify('t-1', 'approved', { userId: 'm-2' });
  const later = await service.admin('POST', `${path}/users`, {
    consumerUserId: 'm-2',
    email: 'bo@example.test',
  });
  expect([later.status, later.body['verification']]).toEqual([
    201,
    expect.objectContaining({ status: 'approved' }),
  ]);
});

test('the verification of the same id in another store does not affect a user', async () => {
  const other = await shopWithUser();
  const { userPath } = await shopWithUser();
  await other.verify('t-1', 'approved');
  expect((await get(userPath))['verification']).toBeNull();
});

test('verifications are found by their user', async () => {
  const { path, verify } = await shopWithUser();
  await verify('t-1', 'approved');
  await verify('t-2', 'declined', { userId: 'm-2' });
  expect((await get(`${path}/verifications?userId=m-1`))['verifications']).toMatchObject([
    { transactionId: 't-1' },
  ]);
  expect((await service.admin('GET', `${path}/verifications?userId=%00`)).status).toBe(400);
});

test('a new verification changes the ETag of the user, but does not prevent a caller from deleting the user with the old ETag', async () => {
  const { userPath, verify } = await shopWithUser();
  const ask = (method: string, headers: Record<string, string>) =>
    fetch(service.url + userPath, {
      method,
      headers: { authorization: `Bearer ${service.token}`, ...headers },
    });
  const etag = (await ask('GET', {})).headers.get('etag') ?? '';
  expect((await ask('GET', { 'if-none-match': etag })).status).toBe(304);
  await verify('t-1', 'approved');
  expect((await ask('GET', { 'if-none-match': etag })).status).toBe(200);
  expect((await ask('DELETE', { 'if-match': etag })).status).toBe(204);
});
