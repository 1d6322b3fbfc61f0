import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { startStandIn } from './simulate/stand-in.ts';
import { startService } from './harness.ts';

/** Starts an error tracker that stores the reports that it receives. */
const startTracker = async () => {
  const received: string[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const packed = req.headers['content-encoding'] === 'gzip';
    received.push(
      `${req.url}\n${JSON.stringify(req.headers)}\n${(packed ? gunzipSync(body) : body).toString('utf8')}`,
    );
    res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    dsn: `http://publickey@127.0.0.1:${(server.address() as AddressInfo).port}/7`,
    received,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

const tracker = await startTracker();
const standIn = await startStandIn();
afterAll(async () => {
  await standIn[Symbol.asyncDispose]();
  await tracker.stop();
});

test('no log, metric, event view or error report contains a token, key, CAVV, cres or personal data', async () => {
  const service = await startService({ variables: { SENTRY_DSN: tracker.dsn } });
  const cavv = 'kBPLmWtT/8RkAAAAAAAA+9==';
  const store = await service.store({
    pos: {
      kind: 'blaze',
      baseUrl: standIn.url,
      credentials: { apiKey: 'blaze-key-secret', authorization: 'blaze-auth-secret' },
    },
    payments: { kind: 'threedsecureio', baseUrl: standIn.url, credentials: { apiKey: '3ds-key-secret' } },
    identity: { kind: 'persona', credentials: { webhookSecret: 'persona-secret' } },
    customerImportsEnabled: true,
  });
  const { id, webhookToken } = store;
  const rotated = await service.admin('POST', `/v1/stores/${id}/webhook-token/rotate`, {
    graceSeconds: 60,
  });
  const member = {
    id: 'm-1',
    email: 'ann@person.example',
    firstName: 'Annabel',
    lastName: 'Leeward',
    phone: '+15550199',
  };
  const cres = (transactionId: string) =>
    Buffer.from(JSON.stringify({ threeDSServerTransID: transactionId, transStatus: 'Y' })).toString(
      'base64url',
    );
  await service.admin('POST', `/v1/stores/${id}/payments`, {
    service: 'threedsecureio',
    transactionId: 'tds-1',
    orderId: 'o-1',
  });
  standIn.results.set('tds-1', { transStatus: 'Y', authenticationValue: cavv, eci: '05' });

  const send = (path: string, body: unknown, headers = {}) => service.hook(path, webhookToken, body, headers);
  await send('payment-auth-completed/threedsecureio', {
    service: 'threedsecureio',
    cres: cres('tds-1'),
    transactionId: 'tds-1',
  });
  await send('payment-auth-completed/threedsecureio', {
    service: 'threedsecureio',
    cres: cres('tds-2'),
    transactionId: 'tds-2',
  });
  await send('new_member', member);
  await send('new_member', { ...member, phone: { not: 'a phone' } });
  await send('order_updated', `{"id": "o-1", "email": "${member.email}"`);
  await send('order_updated', { id: 'o-2', publicKey: 'pk', status: [member.email] });
  await send(
    'identity-verification-updated/persona',
    { service: 'persona', transactionId: 't-1' },
    { 'persona-signature': 't=1,v1=00' },
  );
  await send('order_updated', 'x'.repeat(1_100_000));
  await fetch(`${service.url}/api/v1/hooks/order_updated/${webhookToken}/more?token=${webhookToken}`);
  await service.settled();
  const views: unknown[] = [
    await service.admin('GET', `/v1/stores/${id}`),
    await service.admin('GET', '/v1/stores'),
  ];
  const { events } = (await service.admin('GET', `/v1/stores/${id}/events`)).body;
  for (const { id: eventId } of events as unknown as { id: string }[]) {
    views.push(await service.admin('GET', `/v1/stores/${id}/events/${eventId}`));
    views.push(await service.admin('POST', `/v1/stores/${id}/events/${eventId}/replay?dryRun=true`));
  }
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  const log = service.lines.join('');
  await service[Symbol.asyncDispose]();

  expect(tracker.received.length).toBeGreaterThanOrEqual(3);
  expect(tracker.received.join('')).toContain('The payload is not valid: status: must be a string');
  const secrets = [
    webhookToken,
    rotated.body['webhookToken'] as unknown as string,
    service.token,
    'blaze-key-secret',
    'blaze-auth-secret',
    '3ds-key-secret',
    'persona-secret',
    'ab'.repeat(32),
    cavv,
    encodeURIComponent(cavv),
    cres('tds-1'),
    cres('tds-2'),
    ...Object.values(member).slice(1),
  ];
  const places = { log, metrics, views: JSON.stringify(views), tracker: tracker.received.join('') };
  for (const [place, text] of Object.entries(places)) {
    expect([place, text.length > 200]).toEqual([place, true]);
    for (const secret of secrets)
      expect([place, secret, text.includes(secret)]).toEqual([place, secret, false]);
  }
});
