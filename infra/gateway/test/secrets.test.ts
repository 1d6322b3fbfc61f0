import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startGateway, waitFor, freePort, type Gateway } from './gateway.ts';
import { request, sendBytes } from './http.ts';
import { startService, type Service } from './service.ts';

const token = 'tKq3_Zr8-Vw1xYb6Nc0Md5Lf9Pg2Hj7Sa4Ue6Oi3Bt1';
/** Shorter than generated tokens: a person may have chosen it. */
const shortToken = 'short.Secret';
const credential = 'cReDeNtIaL0123456789';
const hook = (secret = token) => `/api/v1/hooks/order_updated/${secret}`;
const json = '{"id":"1"}';
const withBody = (body: string) => [`Content-Length: ${body.length}`];

let service: Service;
let gateway: Gateway;

/** Checks at the end of every test that no log contains a secret and the access log is valid JSON. */
const expectNoSecrets = async () => {
  const logs = await gateway.logs();
  for (const text of Object.values(logs))
    for (const secret of [token, token.slice(0, 20), shortToken, credential])
      expect(text).not.toContain(secret);
  const lines = (logs['access.log'] ?? '').trimEnd().split('\n');
  return {
    errors: logs['error.log'] ?? '',
    entries: lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
};

const restartGateway = async (options: Parameters<typeof startGateway>[0]) => {
  await gateway[Symbol.asyncDispose]();
  gateway = await startGateway(options);
};

beforeEach(async () => {
  service = await startService();
  gateway = await startGateway({
    upstreams: {
      'store-webhooks': service.address,
      'quest-service': service.address,
      'task-manager': service.address,
    },
  });
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

describe('a webhook token is in no log', () => {
  test('when the event is delivered', async () => {
    await request(gateway.port, hook(), 'POST', withBody(json), json);
    await request(
      gateway.port,
      `/api/v1/hooks/payment-auth-completed/netcetera/${token}`,
      'POST',
      withBody(json),
      json,
    );
    await request(gateway.port, `${hook(shortToken)}?check=${token}`);
    expect(service.received.map(({ url }) => url)).toContain(hook());
    const { entries } = await expectNoSecrets();
    expect(entries.map(({ path, status }) => [path, status]).slice(0, 3)).toEqual([
      ['/api/v1/hooks/order_updated/***', 200],
      ['/api/v1/hooks/payment-auth-completed/***', 200],
      ['/api/v1/hooks/order_updated/***', 200],
    ]);
  });

  test('when the service cannot be reached', async () => {
    const closedPort = `127.0.0.1:${await freePort()}`;
    await restartGateway({ upstreams: { 'store-webhooks': closedPort, 'quest-service': closedPort } });
    expect((await request(gateway.port, hook(), 'POST', withBody(json), json)).status).toBe(503);
    expect((await request(gateway.port, '/v1/quests/visible')).status).toBe(503);
    const { entries } = await expectNoSecrets();
    expect(entries[1]).toMatchObject({
      path: '/v1/quests/visible',
      status: 503,
      upstream: closedPort,
      upstreamStatus: '502',
    });
    expect(entries[0]).toMatchObject({
      path: '/api/v1/hooks/order_updated/***',
      status: 503,
      service: 'store-webhooks',
      upstream: closedPort,
    });
  });

  test('when the service sends an invalid response or takes too long', async () => {
    for (const status of [502, 504]) {
      await using failing = await startService(
        (_, response) => void (status === 502 && response.socket?.end('nonsense')),
      );
      await restartGateway({ upstreams: { 'store-webhooks': failing.address }, timeouts: { answer: 100 } });
      await request(gateway.port, hook(), 'POST', withBody(json), json);
      expect(failing.received).toHaveLength(1);
      await expectNoSecrets();
    }
  });

  test('when the body is large or too large', async () => {
    const body = 'x'.repeat(1_000_000);
    expect((await request(gateway.port, hook(), 'POST', withBody(body), body)).status).toBe(200);
    const larger = body.repeat(2);
    expect((await request(gateway.port, hook(), 'POST', withBody(larger), larger)).status).toBe(413);
    await expectNoSecrets();
  });

  test.each([400, 405, 414, 431, 505])('when nginx rejects the request with %i', async (status) => {
    const requests: Record<number, string> = {
      400: `POST ${hook()}/%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      405: `TRACE ${hook()} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      414: `POST ${hook(token.repeat(250))} HTTP/1.1\r\nHost: a\r\n\r\n`,
      431: `POST ${hook()} HTTP/1.1\r\nHost: a\r\nX-A: ${token.repeat(250)}\r\n\r\n`,
      505: `POST ${hook()} HTTP/2.0\r\nHost: a\r\n\r\n`,
    };
    expect(await sendBytes(gateway.port, requests[status] ?? '')).toContain(` ${status} `);
    await expectNoSecrets();
  });

  test.each([
    hook().toUpperCase().replace(token.toUpperCase(), token),
    hook().toUpperCase().replace(token.toUpperCase(), shortToken),
    `/${hook(shortToken)}`,
    hook(shortToken).replaceAll('/', '//'),
    hook(shortToken).replace('hooks', 'h%6foks'),
    hook(shortToken).replaceAll('/', '%2f'),
    `/x/..${hook(shortToken)}`,
    `/v1/stores/../../${hook(shortToken).slice(1)}`,
    `${hook()}/../../../tasks`,
    `http://gateway.test${hook(shortToken)}`,
    `/hooks/${shortToken}`,
    `/api/v1/order_updated/${token}`,
    `/${token}`,
    `/v1/stores/${token}?token=${token}`,
    `/api/v1/hooks/${token}`,
    `/api/v1/hooks/${shortToken}`,
    `/api/v1/hooks/order_updated/${encodeURIComponent(token).replaceAll('_', '%5F')}`,
  ])('when the address is spelled %s, with a small or a large body', async (target) => {
    await request(gateway.port, target, 'POST', withBody(json), json);
    const large = 'x'.repeat(200_000);
    await request(gateway.port, target, 'POST', withBody(large), large);
    await expectNoSecrets();
  });

  test('when the address only resembles the address of a document', async () => {
    const targets = [
      `/docs/status/store-webhooks/${shortToken}`,
      `/docs/status/store-webhooks/`,
      `/docs/status/store-webhooks${hook(shortToken)}`,
      `/docs/status/store-webhooks/../../..${hook(shortToken)}`,
      `/docs/status/store-webhooks/%2e%2e/${shortToken}`,
      `/docs/status/store-webhooks%3f/${shortToken}`,
      `/docs/status/store-webhooks%2f${shortToken}`,
      `/docs/status/store-webhooks;${shortToken}`,
      `/docs/status/store-webhooks-${shortToken}`,
      `/docs/status/${hook(shortToken).slice(1)}`,
      `/docs/status/store-w%65bhooks/${shortToken}`,
      `/docs/ops/summary/store-webhooks/${shortToken}`,
      `/docs/ops/summary//store-webhooks/${shortToken}`,
      `/openapi/store-webhooks.json/${shortToken}`,
      `/openapi/store-webhooksXjson`,
      '/DOCS/STATUS/STORE-WEBHOOKS',
      '/docs/status/Store-Webhooks',
      '//docs/status/store-webhooks',
      '/docs//status/store-webhooks',
      '/docs%2fstatus%2fstore-webhooks',
      '/x/../docs/status/store-webhooks',
      '/./docs/status/store-webhooks',
      '/docs/ops/./summary/store-webhooks',
      `${hook(shortToken)}/docs/status/store-webhooks`,
      `/hooks/${shortToken}/docs/status/store-webhooks`,
    ];
    for (const target of targets) await request(gateway.port, target);
    const { entries } = await expectNoSecrets();
    // The last entry is the request of logs().
    const paths = entries.slice(0, -1).map(({ path }) => String(path));
    expect(paths).toHaveLength(targets.length);
    expect([...new Set(paths)].toSorted()).toEqual(['/***', '/api/v1/hooks/order_updated/***']);
  });

  test('when the sender disconnects, before or after the end of the body', async () => {
    for (const length of [json.length, 1_000]) {
      const socket = connect(gateway.port, '127.0.0.1');
      socket.write(`POST ${hook()} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${json}`);
      if (length === json.length) await waitFor(async () => service.received[0], 'the event');
      socket.resetAndDestroy();
      await once(socket, 'close');
    }
    await waitFor(
      async () => ((await expectNoSecrets()).entries.length >= 3 ? true : undefined),
      'three entries',
    );
  });
});

describe('a credential is in no log', () => {
  const fields = [
    'Authorization',
    'Cookie',
    'X-API-Key',
    'X-HMAC-SHA256',
    'Referer',
    'X-Forwarded-For',
    'X-Request-Id',
  ].map((name) => `${name}: ${credential} ${credential}`);

  test('when the request succeeds, with the credential in a header or in the query', async () => {
    expect(
      (
        await request(gateway.port, `/v1/quests?access_token=${credential}`, 'GET', [
          ...fields,
          'User-Agent: curl/8',
        ])
      ).status,
    ).toBe(200);
    const { entries } = await expectNoSecrets();
    expect(entries[0]).toMatchObject({
      method: 'GET',
      path: '/v1/quests',
      status: 200,
      service: 'quest-service',
      client: '127.0.0.1',
      userAgent: 'curl/8',
    });
  });

  test('when the service is unavailable or the request is rejected', async () => {
    await restartGateway({ upstreams: { 'task-manager': `127.0.0.1:${await freePort()}` } });
    for (const target of ['/api/v1/auth/check', '/nowhere', '/api/v1/tasks/%zz'])
      await request(gateway.port, target, 'GET', fields);
    await expectNoSecrets();
  });
});

test('a webhook whose sender disconnects without waiting for the response is still delivered', async () => {
  const pendingResponses: ServerResponse[] = [];
  await using slow = await startService((_, response) => void pendingResponses.push(response));
  await restartGateway({ upstreams: { 'store-webhooks': slow.address, 'quest-service': slow.address } });
  for (const [path, id] of [
    [hook(), 'hook'],
    ['/v1/quests', 'quest'],
  ]) {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${id}\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
    );
    await waitFor(
      async () => slow.received.find(({ headers }) => headers['x-request-id'] === id),
      'the request',
    );
    socket.destroy();
  }
  expect(await gateway.entry('quest')).toMatchObject({ status: 499 });
  for (const response of pendingResponses) response.end('{}');
  expect(await gateway.entry('hook')).toMatchObject({ status: 200 });
});
