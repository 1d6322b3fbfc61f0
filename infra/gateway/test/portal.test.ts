import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { services } from '../src/addresses.ts';
import { startGateway, freePort, type Gateway } from './gateway.ts';
import { expectProblem, request } from './http.ts';
import { startService, type Service } from './service.ts';

const compressed = gzipSync('<h1></h1>');
let home: string;
let gateway: Gateway;
let backends: Map<string, Service>;
let demo: Service;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'portal-'));
  await chmod(home, 0o755);
  for (const folder of ['', 'ops', 'reference', 'account/password']) {
    await mkdir(join(home, 'docs', folder), { recursive: true });
    await writeFile(join(home, 'docs', folder, 'index.html'), `<h1>${folder}</h1>`);
  }
  await writeFile(join(home, 'docs/index.html.gz'), compressed);
  demo = await startService();
  backends = new Map(await Promise.all(services.map(async (name) => [name, await startService()] as const)));
  const upstreams = Object.fromEntries([...backends].map(([name, { address }]) => [name, address]));
  gateway = await startGateway({
    upstreams,
    docsDir: join(home, 'docs'),
    demoServer: demo.address,
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await demo[Symbol.asyncDispose]();
  for (const service of backends.values()) await service[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

const policyOf = async (target: string, { port } = gateway): Promise<string[]> =>
  ((await request(port, target)).headers['content-security-policy'] ?? []).flatMap((policy) =>
    policy.split('; '),
  );

describe('the headers of the pages', () => {
  test.each(['/docs/', '/docs/ops/', '/account/password/'])(
    '%s loads and runs nothing from other origins, and cannot be framed',
    async (target) => {
      expect(await policyOf(target)).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "font-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ]);
    },
  );

  test('the reference may create style elements, but no scripts', async () => {
    const policy = await policyOf('/docs/reference/');
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("style-src 'self' 'unsafe-inline'");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
  });

  test('pages prevent content sniffing, framing, unvalidated caching and referrers', async () => {
    for (const target of ['/docs/', '/account/password/'])
      expect((await request(gateway.port, target)).headers).toMatchObject({
        'x-content-type-options': ['nosniff'],
        'x-frame-options': ['DENY'],
        'referrer-policy': ['no-referrer'],
        'cross-origin-opener-policy': ['same-origin'],
        'cross-origin-resource-policy': ['same-origin'],
        'cache-control': ['no-cache'],
        'x-request-id': [expect.any(String)],
      });
  });

  test('a page with a compressed copy is sent compressed to clients that accept it', async () => {
    const { headers, status } = await request(gateway.port, '/docs/', 'GET', ['Accept-Encoding: gzip']);
    expect([status, headers['content-encoding'], headers['vary']]).toEqual([
      200,
      ['gzip'],
      ['Accept-Encoding'],
    ]);
    expect(headers['content-length']).toEqual([String(compressed.length)]);
    expect(headers['content-type']).toEqual(['text/html']);
    expect((await request(gateway.port, '/docs/')).body).toBe('<h1></h1>');
  });

  test('/docs/ops redirects to the page', async () => {
    const answer = await request(gateway.port, '/docs/ops');
    expect([answer.status, answer.headers['location']]).toEqual([301, ['/docs/ops/']]);
  });
});

describe('signing in with an account of the organisation', () => {
  const signIn = {
    issuer: 'https://id.example.test/realms/staff',
    clientId: 'operations',
    scope: 'openid offline_access api://platform/use',
  };

  test('/docs/ops/sign-in.json returns the provider to the operations page', async () => {
    await using withSignIn = await startGateway({ docsDir: join(home, 'docs'), signIn });
    const answer = await request(withSignIn.port, '/docs/ops/sign-in.json');
    expect(JSON.parse(answer.body)).toEqual(signIn);
    expect(answer.headers).toMatchObject({
      'content-type': ['application/json'],
      'x-content-type-options': ['nosniff'],
      'cache-control': ['no-cache'],
    });
  });

  test('/docs/ops/sign-in.json is null without a provider', async () => {
    expect((await request(gateway.port, '/docs/ops/sign-in.json')).body).toBe('null');
  });

  test('only the operations page may send requests to the provider, and to no other origin', async () => {
    await using withSignIn = await startGateway({ docsDir: join(home, 'docs'), signIn });
    const sources = async (target: string) =>
      (await policyOf(target, withSignIn)).filter((directive) => directive.includes('connect-src'));
    expect(await sources('/docs/ops/')).toEqual(["connect-src 'self' https://id.example.test"]);
    for (const target of ['/docs/', '/docs/reference/'])
      expect(await sources(target)).toEqual(["connect-src 'self'"]);
  });
});

describe('requests of the pages to a service', () => {
  test.each([
    ['/docs/status', '/ops/status'],
    ['/docs/ops/caller', '/ops/caller'],
    ['/docs/ops/summary', '/ops/summary'],
    ['/docs/ops/alerts', '/ops/alerts'],
  ])('%s/<service> returns %s of that service', async (path, document) => {
    for (const [name, { received }] of backends) {
      const answer = await request(gateway.port, `${path}/${name}`, 'GET', ['Authorization: Bearer x.y.z']);
      expect(answer.status).toBe(200);
      expect(received.splice(0)).toMatchObject([
        { method: 'GET', url: document, headers: { authorization: 'Bearer x.y.z' } },
      ]);
    }
  });

  test.each([
    '/docs/status/other',
    '/docs/status/',
    '/docs/status/quest-service/x',
    '/docs/ops/summary/',
    '/ops/status',
    '/ops/summary',
    '/readyz',
    '/docs/status/../../readyz',
    '/docs/status/quest-service/../../../metrics',
  ])('%s reaches no service', async (target) => {
    const answer = await request(gateway.port, target);
    expect(answer.status).toBeOneOf([400, 404]);
    expect([...backends.values()].flatMap(({ received }) => received)).toEqual([]);
  });

  test('a service that is not deployed is 404, so that the pages omit it', async () => {
    await using minimal = await startGateway({ docsDir: join(home, 'docs') });
    expectProblem(await request(minimal.port, '/docs/status/quest-service'), 404, 'not_found');
  });
});

describe('a portal for an inner network', () => {
  test('is only at the address of that network, which also serves the API; pages for links in mails are at all addresses', async () => {
    const inner = await freePort();
    const upstreams = Object.fromEntries([...backends].map(([name, { address }]) => [name, address]));
    const options = { innerListen: `127.0.0.1:${inner}`, portal: 'internal', upstreams } as const;
    await using internalPortal = await startGateway({ docsDir: join(home, 'docs'), ...options });
    for (const target of [
      '/',
      '/docs',
      '/docs/',
      '/docs/index.html',
      '/docs/a|b',
      '/docs/ops/sign-in.json',
      '/docs/status/quest-service',
      '/docs/ops/alerts/quest-service',
    ])
      expectProblem(await request(internalPortal.port, target), 404, 'not_found');
    expect([...backends.values()].flatMap(({ received }) => received)).toEqual([]);
    for (const target of ['/account/password/', '/healthz', '/v1/quests', '/openapi/quest-service.json'])
      for (const port of [internalPortal.port, inner]) expect((await request(port, target)).status).toBe(200);
    expect((await request(inner, '/')).status).toBe(308);
    for (const target of ['/docs/', '/docs/ops/sign-in.json', '/docs/status/quest-service'])
      expect((await request(inner, target)).status).toBe(200);
    for (const { received } of backends.values()) received.splice(0);
  });
});

describe("the demo's credentials", () => {
  test('POST /docs/demo is forwarded to the demo server', async () => {
    const body = '{"code":"c"}';
    const answer = await request(
      gateway.port,
      '/docs/demo',
      'POST',
      [`Content-Length: ${body.length}`],
      body,
    );
    expect(answer.status).toBe(200);
    expect(demo.received.splice(0)).toMatchObject([{ method: 'POST', url: '/docs/demo' }]);
  });

  test('a body that is too large for a code does not reach the demo server', async () => {
    const refused = await request(
      gateway.port,
      '/docs/demo',
      'POST',
      ['Content-Length: 2000'],
      'x'.repeat(2_000),
    );
    expectProblem(refused, 413, 'too_large');
    expect(demo.received).toEqual([]);
  });

  test('no file of the portal contains them: /docs/demo.json is 404', async () => {
    expectProblem(await request(gateway.port, '/docs/demo.json'), 404, 'not_found');
  });

  test('/docs/ops/mails is forwarded to the demo server with the token', async () => {
    const path = '/docs/ops/mails';
    expect((await request(gateway.port, path, 'GET', ['Authorization: Bearer x.y.z'])).status).toBe(200);
    expect(demo.received.splice(0)).toMatchObject([
      { method: 'GET', url: path, headers: { authorization: 'Bearer x.y.z' } },
    ]);
  });

  test('without demoServer neither address exists', async () => {
    await using minimal = await startGateway({ docsDir: join(home, 'docs') });
    expectProblem(await request(minimal.port, '/docs/ops/mails'), 404, 'not_found');
    expectProblem(await request(minimal.port, '/docs/demo', 'POST', ['Content-Length: 0']), 404, 'not_found');
  });
});
