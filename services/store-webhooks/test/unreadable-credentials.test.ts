import { createSecretBox } from '@platform/auth/secret-box';
import { expect, test } from 'vitest';
import { credentialsContext } from '../src/stores/known-store.ts';
import { startService } from './harness.ts';

const error = 'The credentials of the store cannot be decrypted; check SECRETS_KEY.';
const order = (id: string) => ({ id, status: 'PENDING', cart: { items: [] } });

type Service = Awaited<ReturnType<typeof startService>>;

/** Encrypts the credentials of a store with a key that the service does not have. */
const lock = async ({ context }: Service, id: string): Promise<void> => {
  const credentials = createSecretBox('cd'.repeat(32)).seal('{}', credentialsContext(id));
  await context.database.sql`update stores set credentials = ${credentials} where id = ${id}`;
};

test('events of a store whose credentials cannot be decrypted wait; those of other stores are processed', async () => {
  await using service = await startService({ variables: { RETRY_BASE_MS: '60000' } });
  const [locked, other] = [await service.store(), await service.store()];
  await lock(service, locked.id);
  for (const { webhookToken } of [locked, other])
    expect((await service.hook('order_updated', webhookToken, order('o-1'))).status).toBe(200);

  const eventsOf = async (id: string) =>
    (await service.admin('GET', `/v1/stores/${id}/events`)).body['events'];
  await expect.poll(() => eventsOf(other.id)).toMatchObject([{ status: 'done' }]);
  await expect.poll(() => eventsOf(locked.id)).toMatchObject([{ status: 'pending', attempts: 1, error }]);
});

test('a store whose credentials cannot be decrypted is listed with that state', async () => {
  await using service = await startService({ work: false });
  const [locked, other] = [await service.store(), await service.store()];
  await lock(service, locked.id);
  const shown = await service.admin('GET', '/v1/stores');
  expect(shown).toMatchObject({
    status: 200,
    body: {
      stores: [
        { id: other.id, credentialsState: 'readable' },
        { id: locked.id, credentialsState: 'unreadable', pos: { kind: 'blaze', credentials: [] } },
      ],
    },
  });
  expect((await service.admin('GET', `/v1/stores/${locked.id}`)).body).toMatchObject({
    credentialsState: 'unreadable',
  });
});

test('a webhook whose signature cannot be verified without the credentials is answered with 503, not accepted', async () => {
  await using service = await startService({ work: false });
  const { id, webhookToken } = await service.store({
    pos: { kind: 'square', credentials: { webhookSecret: 'k' } },
  });
  await lock(service, id);
  const answer = await service.hook('member_updated', webhookToken, { event_id: 'e-1' });
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).not.toBeNull();
  expect(await answer.json()).toMatchObject({ code: 'credentials_unreadable', detail: error });
});

test('a change that needs the unreadable credentials is rejected; one that sends all of them again repairs the store', async () => {
  await using service = await startService({ work: false });
  const { id } = await service.store({ pos: { kind: 'blaze', credentials: { apiKey: 'a' } } });
  await lock(service, id);
  expect(await service.admin('PATCH', `/v1/stores/${id}`, { name: 'New name' })).toMatchObject({
    status: 503,
    body: { code: 'credentials_unreadable' },
  });
  const pos = { kind: 'blaze', credentials: { apiKey: 'b' } };
  expect(await service.admin('PATCH', `/v1/stores/${id}`, { pos })).toMatchObject({
    status: 200,
    body: { credentialsState: 'readable', pos: { credentials: ['apiKey'] }, clearedCredentials: [] },
  });
});
