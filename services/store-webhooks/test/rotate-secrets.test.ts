import { createSecretBox } from '@platform/auth/secret-box';
import { expect, test } from 'vitest';
import { credentialsContext } from '../src/stores/credentials.ts';
import { rotateSecrets } from '../src/stores/rotate-secrets.ts';
import { startService } from './harness.ts';

const [older, newer] = ['ab'.repeat(32), 'cd'.repeat(32)];

test('rotate-secrets encrypts credentials and kept addresses with the new key; the old one is needed no more', async () => {
  await using service = await startService({ work: false, variables: { SECRETS_KEY: older } });
  const pos = { kind: 'square', credentials: { webhookSecret: 'key-1' } };
  const { id, webhookToken, webhookUrls } = await service.store({ pos });
  const body = { event_id: 'e-1', type: 'customer.updated', data: { object: { customer: { id: 'c-1' } } } };
  await service.hook('member_updated', webhookToken, body, { 'x-square-hmacsha256-signature': 'wrong' });

  const context = { ...service.context, box: createSecretBox(`${newer},${older}`) };
  expect(await rotateSecrets(context)).toEqual({ stores: 1, events: 1 });
  expect(await rotateSecrets(context)).toEqual({ stores: 0, events: 0 });
  const box = createSecretBox(newer);
  const { sql } = service.context.database;
  const [row] = await sql<{ credentials: string; url: string; event: string }[]>`
    select credentials, headers ->> ':url' as url, inbox.id as event from stores, inbox where stores.id = ${id}`;
  expect(JSON.parse(box.open(row?.credentials ?? '', credentialsContext(id)))).toEqual({
    pos: pos.credentials,
  });
  const url = box.open(row?.url ?? '', `inbox/${id}/${row?.event}/url`);
  expect(url).toBe(webhookUrls['member_updated']);
});
