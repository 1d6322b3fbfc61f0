import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '@platform/local/postgres';
import { afterAll, expect, test } from 'vitest';
import { startStandIn } from './simulate/stand-in.ts';
import { startService } from './harness.ts';
import { startMailServer } from '@platform/mail/testing';

const postgres = await startPostgres({ durable: true });
const standIn = await startStandIn();
afterAll(async () => {
  await standIn[Symbol.asyncDispose]();
  await postgres.stop();
});

const cavv = 'kBPLmWtT/8RkAAAAAAAA+9==';
const cres = Buffer.from('{"threeDSServerTransID":"tds-1","transStatus":"Y"}').toString('base64url');
const keys = {
  pos: { apiKey: 'blaze-key-secret', authorization: 'blaze-auth-secret' },
  payments: { apiKey: '3ds-key-secret' },
};
const shop = {
  pos: { kind: 'blaze', baseUrl: standIn.url, credentials: keys.pos },
  payments: { kind: 'threedsecureio', baseUrl: standIn.url, credentials: keys.payments },
  notifications: { staff: { email: 'owner@example.test' }, customers: { enabled: true } },
};
const configuredSecrets = [...Object.values(keys.pos), ...Object.values(keys.payments), 'ab'.repeat(32)];

const order = (id: string) => ({
  id,
  orderNo: id,
  status: 'PENDING',
  consumerId: 'c-1',
  cart: { items: [] },
});

const secretsIn = (text: string, secrets: readonly string[]) =>
  secrets.filter((secret) => text.includes(secret));

test('no mail contains a token, a key, a CAVV or a cres', async () => {
  await using server = await startMailServer();
  await using service = await startService({ variables: { SMTP_URL: server.url } });
  const { id, webhookToken } = await service.store(shop);
  await service.admin('POST', `/v1/stores/${id}/users`, { consumerUserId: 'c-1', email: 'ann@example.test' });
  const payment = { service: 'threedsecureio', transactionId: 'tds-1' };
  await service.admin('POST', `/v1/stores/${id}/payments`, { ...payment, orderId: 'o-1' });
  standIn.results.set('tds-1', { transStatus: 'Y', authenticationValue: cavv, eci: '05' });
  const answer = await service.hook('payment-auth-completed/threedsecureio', webhookToken, {
    ...payment,
    cres,
  });
  expect(answer.headers.get('location')).toContain(encodeURIComponent(cavv));
  await service.hook('order_updated', webhookToken, order('o-1'));
  await service.hook('new_member', webhookToken, { id: 'm-1', email: 'eve@example.test', firstName: 'Eve' });
  await service.settled();
  const { sql } = service.context.database;
  const pending = () => sql`select from notifications where mail = 'pending'`;
  while ((await pending()).length > 0) await sleep(10);
  expect(server.mails.length).toBeGreaterThanOrEqual(2);
  const mails = server.mails.join('\n');
  expect(mails).toContain('Your order o-1');
  const secrets = [...configuredSecrets, webhookToken, service.token, cavv, encodeURIComponent(cavv), cres];
  expect(secretsIn(mails, secrets)).toEqual([]);
});

test('only its owner can read the spool, and it contains no token, key or credential header', async () => {
  await using service = await startService({ serverUrl: postgres.url });
  const { webhookToken } = await service.store(shop);
  await service.hook('order_updated', webhookToken, order('o-0'));
  await service.settled();
  await postgres.kill9();
  const sent = {
    authorization: 'Bearer provider-bearer-secret',
    'proxy-authorization': 'Basic provider-proxy-secret',
    cookie: 'session=provider-cookie-secret',
    apikey: 'provider-apikey-secret',
    'x-api-key': 'provider-x-api-key-secret',
  };
  const answer = await service.hook('order_updated', `${webhookToken}?of=spool`, order('o-1'), sent);
  expect(answer.status).toBe(200);
  const names = await readdir(service.spool, { recursive: true });
  const files = names.filter((name) => name.endsWith('.spool')).map((name) => join(service.spool, name));
  expect(files).toHaveLength(1);
  const [file = ''] = files;
  const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
  const modes = [await mode(dirname(file)), await mode(file)];
  const spooled = await readFile(file, 'latin1');
  await postgres.restart();

  expect(modes).toEqual(['700', '600']);
  expect(spooled).toContain('"o-1"');
  expect(secretsIn(spooled, [...configuredSecrets, webhookToken, ...Object.values(sent)])).toEqual([]);
});
