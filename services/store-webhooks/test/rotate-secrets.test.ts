import { createSecretBox } from '@platform/auth/secret-box';
import { expect, test } from 'vitest';
import { credentialsContext } from '../src/stores/known-store.ts';
import { rotateSecrets } from '../src/sealed-values.ts';
import { startService } from './harness.ts';
import { startStandIn } from './simulate/stand-in.ts';

const [older, newer] = ['ab'.repeat(32), 'cd'.repeat(32)];
const noneRotated = { stores: 0, events: 0, payments: 0, unreadable: 0 };

test('rotate-secrets encrypts credentials and stored URLs with the new key; the old one is no longer needed', async () => {
  await using service = await startService({ work: false, variables: { SECRETS_KEY: older } });
  const pos = { kind: 'square', credentials: { webhookSecret: 'key-1' } };
  const { id, webhookToken, webhookUrls } = await service.store({ pos });
  const body = { event_id: 'e-1', type: 'customer.updated', data: { object: { customer: { id: 'c-1' } } } };
  await service.hook('member_updated', webhookToken, body, { 'x-square-hmacsha256-signature': 'wrong' });

  const context = { ...service.context, box: createSecretBox(`${newer},${older}`) };
  expect(await rotateSecrets(context)).toEqual({ ...noneRotated, stores: 1, events: 1 });
  expect(await rotateSecrets(context)).toEqual(noneRotated);
  const box = createSecretBox(newer);
  const { sql } = service.context.database;
  const [row] = await sql<{ credentials: string; url: string; event: string }[]>`
    select credentials, headers ->> ':url' as url, inbox.id as event from stores, inbox where stores.id = ${id}`;
  expect(JSON.parse(box.open(row?.credentials ?? '', credentialsContext(id)) ?? '')).toEqual({
    pos: pos.credentials,
  });
  const url = box.open(row?.url ?? '', `inbox/${id}/${row?.event}/url`);
  expect(url).toBe(webhookUrls['member_updated']);
});

test('rotate-secrets encrypts the outcomes of payments too: with the new key alone a reload gets the same answer', async () => {
  await using standIn = await startStandIn();
  await using service = await startService({ work: false, variables: { SECRETS_KEY: older } });
  const { id, webhookToken } = await service.store({
    payments: { kind: 'threedsecureio', baseUrl: standIn.url },
  });
  const serverId = '8a880dc0-d2d2-4067-bcb1-000000000001';
  standIn.results.set(serverId, { transStatus: 'Y', authenticationValue: 'cavv', eci: '05' });
  await service.admin('POST', `/v1/stores/${id}/payments`, {
    service: 'threedsecureio',
    transactionId: serverId,
    orderId: 'o-1',
  });
  const cres = Buffer.from(JSON.stringify({ threeDSServerTransID: serverId })).toString('base64url');
  const path = 'payment-auth-completed/threedsecureio';
  const payload = { service: 'threedsecureio', cres };
  const first = await service.hook(path, webhookToken, payload);
  expect(first.headers.get('location')).toContain('success');

  const context = { ...service.context, box: createSecretBox(`${newer},${older}`) };
  expect(await rotateSecrets(context)).toMatchObject({ payments: 1, unreadable: 0 });
  standIn.behaviour = 'error';
  await using restarted = await startService({
    work: false,
    databaseUrl: service.databaseUrl,
    variables: { SECRETS_KEY: newer },
  });
  const again = await restarted.hook(path, webhookToken, payload);
  expect(again.headers.get('location')).toBe(first.headers.get('location'));
});

test('rotate-secrets counts values that no key can decrypt, and encrypts the others', async () => {
  await using service = await startService({ work: false, variables: { SECRETS_KEY: older } });
  const [locked] = [await service.store(), await service.store()];
  const sealed = createSecretBox('ef'.repeat(32)).seal('{}', credentialsContext(locked.id));
  await service.context.database.sql`update stores set credentials = ${sealed} where id = ${locked.id}`;
  const context = { ...service.context, box: createSecretBox(`${newer},${older}`) };
  expect(await rotateSecrets(context)).toEqual({ ...noneRotated, stores: 1, unreadable: 1 });
});
