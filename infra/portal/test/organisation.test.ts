import { createHmac } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startGateway, type Gateway } from '@platform/gateway/testing/gateway';
import { freePort } from '@platform/local/ports';
import { cloneServiceDatabase, startServiceProcess } from '@platform/service-kit/testing';
import { base64url, decodeJwt, decodeProtectedHeader, exportJWK, exportSPKI } from 'jose';
import { chromium, type Browser, type Page, type Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { buildPortal } from '../src/build.ts';
import { audience, startProvider } from './provider.ts';

const executablePath = inject('chromiumPath');
const hasBrowser = executablePath !== null && inject('nginxPath') !== null;
const button = 'Sign in with your organisation’s account';

const stack = new AsyncDisposableStack();
let gateway: Gateway;
let provider: Awaited<ReturnType<typeof startProvider>>;
let browser: Browser;

/** Starts nginx with the portal, and one service, which both use the provider. */
const start = async (): Promise<void> => {
  const home = await mkdtemp(join(tmpdir(), 'organisation-'));
  stack.defer(() => rm(home, { recursive: true }));
  await chmod(home, 0o755);
  const [port, providerPort] = [await freePort(), await freePort()];
  provider = stack.use(await startProvider(providerPort, `http://127.0.0.1:${port}`));
  const folder = resolve(import.meta.dirname, '../../../services/quest-service');
  const database = stack.use(await cloneServiceDatabase(inject('postgresUrl'), folder));
  const variables = {
    DATABASE_URL: database.url,
    AUTH_JWKS: `${provider.issuer}/jwks`,
    AUTH_ISSUER: provider.issuer,
    SUBSCRIPTIONS_KEY: 'ab'.repeat(32),
    AUTH_AUDIENCE: audience,
    AUTH_ALGORITHMS: 'RS256,ES256',
    AUTH_ROLES: JSON.stringify({ claim: 'groups', scopes: { support: 'ops:read quests:write' } }),
  };
  const [service] = await Promise.all([
    startServiceProcess({ folder, variables }),
    buildPortal(join(home, 'docs')),
  ]);
  stack.use(service);
  const signIn = {
    issuer: provider.issuer,
    clientId: 'operations',
    scope: 'openid use',
    resource: 'urn:platform',
  };
  const upstreams = { 'quest-service': `127.0.0.1:${service.port}` };
  gateway = stack.use(await startGateway({ upstreams, docsDir: join(home, 'docs'), signIn }, port));
  browser = await chromium.launch({ executablePath: executablePath ?? '', args: ['--no-sandbox'] });
  stack.defer(() => browser.close());
};

/** Calls the service through the gateway. */
const call = (token: string, path = '/docs/ops/summary/quest-service', init: RequestInit = {}) =>
  fetch(gateway.url + path, { ...init, headers: { Authorization: `Bearer ${token}`, ...init.headers } });

/** Opens a page with its own browser profile, and records its faults and the tokens that it gets. */
const visit = async (path = '/docs/ops/') => {
  const context = await browser.newContext();
  context.setDefaultTimeout(240_000);
  const page = await context.newPage();
  const faults: string[] = [];
  const tokenResponses: Promise<Record<string, string>>[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/.test(message.text())) faults.push(message.text());
  });
  page.on('response', (response: Response) => {
    if (response.url() === `${provider.issuer}/token`)
      tokenResponses.push(response.json() as Promise<Record<string, string>>);
  });
  await page.goto(gateway.url + path);
  return {
    page,
    faults,
    tokens: () => Promise.all(tokenResponses),
    [Symbol.asyncDispose]: () => context.close(),
  };
};

/** Logs in on the provider's page and grants the requested rights. */
const logIn = async (page: Page, name: string): Promise<void> => {
  await page.locator('input[name=login]').fill(name);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.locator('button[type=submit]', { hasText: 'Continue' }).click();
};

const signedIn = async (path?: string, name = 'ann') => {
  const visited = await visit(path);
  await visited.page.getByRole('button', { name: button }).click();
  await logIn(visited.page, name);
  await visited.page.getByText('Signed in as').waitFor();
  return visited;
};

describe.runIf(hasBrowser)('signing in with an account of the organisation', () => {
  beforeAll(start);
  afterAll(() => stack.disposeAsync());

  test('leads to the provider and back to the same view, with the rights of the role', async () => {
    await using visited = await visit('/docs/ops/#webhooks?status=failed');
    const { page } = visited;
    const authorization = page.waitForRequest((request) =>
      request.url().startsWith(`${provider.issuer}/auth?`),
    );
    await page.getByRole('button', { name: button }).click();
    const parameters = Object.fromEntries(new URL((await authorization).url()).searchParams);
    expect(parameters).toEqual({
      response_type: 'code',
      client_id: 'operations',
      redirect_uri: `${gateway.url}/docs/ops/`,
      scope: 'openid use',
      resource: 'urn:platform',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    await logIn(page, 'ann');
    await page.getByText('Signed in as ann <b>of</b> support').waitFor();
    expect(page.url()).toBe(`${gateway.url}/docs/ops/#webhooks?status=failed`);
    const [{ access_token: token = '' } = {}] = await visited.tokens();
    expect(decodeProtectedHeader(token).alg).toBe('RS256');
    expect((await call(token)).status).toBe(200);
    expect(visited.faults).toEqual([]);
  });

  test('tokens are only in memory: nothing is stored after the sign-in, and a reload ends the session', async () => {
    await using visited = await signedIn();
    const { page } = visited;
    const readable = await page.evaluate(() =>
      [
        location.href,
        JSON.stringify(localStorage),
        JSON.stringify(sessionStorage),
        JSON.stringify(history.state),
        document.cookie,
        document.documentElement.outerHTML,
      ].join('\n'),
    );
    for (const tokens of await visited.tokens())
      for (const name of ['access_token', 'refresh_token', 'id_token']) {
        expect(tokens[name]).toMatch(/^[\w.-]{20,}$/);
        expect(readable).not.toContain(tokens[name]?.slice(-20));
      }
    expect(readable).not.toMatch(/code=|verifier|nonce/);
    await page.reload();
    await page.getByRole('button', { name: button }).waitFor();
    expect(await page.isVisible('#dashboard')).toBe(false);
  });

  test('a guide opens in a new tab, and the session continues', async () => {
    await using visited = await signedIn();
    const { page } = visited;
    const opened = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'Guides' }).click();
    expect(new URL((await opened).url()).pathname).toBe('/docs/guides/');
    expect(await page.getByText('Signed in as').isVisible()).toBe(true);
  });

  test('tokens are renewed in the background until the provider refuses it', async () => {
    await using visited = await visit();
    const { page } = visited;
    await page.clock.install();
    const used = new Set<string | undefined>();
    page.on('request', (request) => used.add(request.headers()['authorization']));
    await page.getByRole('button', { name: button }).click();
    await logIn(page, 'ann');
    await page.getByText('Signed in as').waitFor();
    const before = provider.state.refreshes;
    // Less than a quarter of the token's lifetime remains.
    await page.clock.fastForward(8 * 60_000);
    await expect.poll(() => provider.state.refreshes).toBe(before + 1);
    // The provider counts the renewal before its response arrives.
    await expect.poll(async () => (await visited.tokens()).length).toBe(2);
    const [first, second] = await visited.tokens();
    expect(second?.['access_token']).not.toBe(first?.['access_token']);
    expect(second?.['refresh_token']).not.toBe(first?.['refresh_token']);
    await expect.poll(() => used.has(`Bearer ${second?.['access_token']}`)).toBe(true);
    // Also after the token has expired, for example while the computer was asleep.
    await page.clock.fastForward(11 * 60_000);
    await expect.poll(() => provider.state.refreshes).toBe(before + 2);
    expect(await page.getByText('Signed in as').isVisible()).toBe(true);
    provider.state.isDisabled = true;
    try {
      await page.clock.fastForward(11 * 60_000);
      await page.getByText('no longer accepted').waitFor();
    } finally {
      provider.state.isDisabled = false;
    }
    expect(await page.locator('#dashboard').textContent()).toBe('');
    expect(visited.faults).toEqual([]);
  });

  test('signing out removes the tokens, revokes them and ends the session at the provider', async () => {
    await using visited = await signedIn();
    const { page } = visited;
    const [{ refresh_token: refresh = '' } = {}] = await visited.tokens();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Yes, sign me out' }).click();
    await page.getByRole('button', { name: button }).waitFor();
    expect(page.url()).toBe(`${gateway.url}/docs/ops/`);
    const response = await fetch(`${provider.issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: refresh,
        client_id: 'operations',
      }),
    });
    expect(await response.json()).toMatchObject({ error: 'invalid_grant' });
    await page.getByRole('button', { name: button }).click();
    await page.locator('input[name=password]').waitFor();
    expect(visited.faults).toEqual([]);
  });

  test('signing out works while the provider does not answer, and does not disturb the next sign-in', async () => {
    await using visited = await signedIn();
    const { page } = visited;
    await page.route(`${provider.issuer}/token/revocation`, async () => {
      // Not answered, so it stays open until the page aborts it.
    });
    const revocation = page.waitForRequest(`${provider.issuer}/token/revocation`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await revocation;
    const aborted = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/revocation'));
    await page.getByLabel('Access token').fill(await provider.sign());
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await aborted;
    await page.getByText('Signed in as mallory').waitFor();
    await settled(page);
    expect(await page.getByText('Signed in as mallory').isVisible()).toBe(true);
  });

  test('a running sign-in at the provider is cancelled by a sign-in with a token', async () => {
    await using visited = await visit();
    const { page } = visited;
    const release = Promise.withResolvers<void>();
    const forwarded = Promise.withResolvers<void>();
    await page.route(`${provider.issuer}/.well-known/**`, async (route) => {
      await release.promise;
      await route.continue().catch(() => undefined);
      forwarded.resolve();
    });
    await page.getByRole('button', { name: button }).click();
    await page.getByLabel('Access token').fill(await provider.sign());
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Signed in as mallory').waitFor();
    release.resolve();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: button }).waitFor();
    await forwarded.promise;
    await settled(page);
    expect(page.url()).toBe(`${gateway.url}/docs/ops/`);
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });

  /** Waits for another response in the page, after which it has processed all earlier responses. */
  const settled = (page: Page): Promise<boolean> => page.evaluate(async () => (await fetch('/healthz')).ok);

  describe('refuses a response that the provider did not send for this tab:', () => {
    const issuer = (): string => encodeURIComponent(provider.issuer);

    /** Starts a sign-in and returns its state, which only pages of the origin can read. */
    const stateOf = async (page: Page): Promise<string> => {
      await page.getByRole('button', { name: button }).click();
      await page.locator('input[name=login]').waitFor();
      await page.goto(`${gateway.url}/docs/icon.svg`);
      return page.evaluate(
        () => (JSON.parse(sessionStorage.getItem('sign-in') ?? '{}') as { state: string }).state,
      );
    };

    /** Opens the page like a redirect of the provider; with `hasStarted` a sign-in was started in the tab before. */
    const returnWith = async (query: (state: string) => string, hasStarted = true) => {
      const visited = await visit();
      const { page } = visited;
      const state = hasStarted ? await stateOf(page) : '';
      await page.goto(`${gateway.url}/docs/ops/?${query(state)}`);
      await page.locator('#sign-in-error:not(:empty)').waitFor();
      expect(page.url()).toBe(`${gateway.url}/docs/ops/`);
      expect(await page.isVisible('#dashboard')).toBe(false);
      return { visited, error: await page.locator('#sign-in-error').textContent() };
    };

    test.each<[string, (state: string) => string, boolean, RegExp, boolean]>([
      ['a code without a sign-in', () => 'code=x&state=y', false, /not started in this tab/, false],
      ['another state', () => `code=x&state=y&iss=${issuer()}`, true, /state/, false],
      ['another issuer', (state) => `code=x&state=${state}&iss=https://evil.test`, true, /issuer/, false],
      ['no issuer', (state) => `code=x&state=${state}`, true, /issuer/, false],
      ['a token in the address', (state) => `access_token=x&state=${state}`, true, /issuer/, false],
      [
        'a code of another user',
        (state) => `code=x&state=${state}&iss=${issuer()}`,
        true,
        /refused the sign-in/,
        true,
      ],
    ])('%s', async (_, query, hasStarted, message, isExchanged) => {
      const { visited, error } = await returnWith(query, hasStarted);
      await using _visited = visited;
      expect(error).toMatch(message);
      expect(await visited.tokens()).toHaveLength(isExchanged ? 1 : 0);
      expect(await visited.page.evaluate(() => sessionStorage.length)).toBe(0);
    });

    test('an ID token with the nonce of another sign-in', async () => {
      await using visited = await visit();
      const { page } = visited;
      await page.route(`${provider.issuer}/token`, async (route) => {
        const response = await route.fetch();
        const claims = { aud: 'operations', iat: Math.floor(Date.now() / 1000), nonce: 'another' };
        const json = { ...(await response.json()), id_token: await provider.sign(claims, { typ: 'JWT' }) };
        await route.fulfill({ response, json });
      });
      await page.getByRole('button', { name: button }).click();
      await logIn(page, 'ann');
      await page.locator('#sign-in-error', { hasText: 'nonce' }).waitFor();
      expect(await page.isVisible('#dashboard')).toBe(false);
    });

    test('an error, which is shown as text', async () => {
      const { visited, error } = await returnWith(
        (state) => `error=access_denied&error_description=%3Cb%3Eno%3C/b%3E&state=${state}&iss=${issuer()}`,
      );
      await using _visited = visited;
      expect(error).toBe('The identity provider refused the sign-in: <b>no</b>');
    });
  });

  describe('a service refuses', () => {
    const forged = async (alg: string, secret: string): Promise<string> => {
      const claims = decodeJwt(await provider.sign());
      const text = [{ alg, kid: 'key-RS256', typ: 'at+jwt' }, claims]
        .map((value) => base64url.encode(JSON.stringify(value)))
        .join('.');
      return `${text}.${alg === 'none' ? '' : createHmac('sha256', secret).update(text).digest('base64url')}`;
    };
    const past = () => Date.now() / 1000 - 60;

    test.each<[string, () => Promise<string>]>([
      [
        'a token for another application, from the provider itself',
        () => provider.programToken('urn:payroll'),
      ],
      ['another audience', () => provider.sign({ aud: 'payroll' })],
      ['another issuer', () => provider.sign({ iss: 'https://evil.test' })],
      ['an expired token', () => provider.sign({ exp: past() })],
      ['an unknown key id', () => provider.sign({}, { kid: 'other' })],
      ['no algorithm', () => forged('none', '')],
      [
        'the public key as a shared secret',
        async () => forged('HS256', await exportSPKI(provider.publicKey)),
      ],
      [
        'the public JWK as a shared secret',
        async () => forged('HS256', JSON.stringify(await exportJWK(provider.publicKey))),
      ],
      [
        'the ID token of a person',
        async () => {
          await using visited = await signedIn();
          const [{ id_token: token = '' } = {}] = await visited.tokens();
          return token;
        },
      ],
      ['an ID token for the same audience', () => provider.sign({ nonce: 'x' }, { typ: 'JWT' })],
      ['a token that only has roles', () => provider.sign({}, { typ: 'JWT' })],
    ])('%s', async (_, createToken) => {
      const response = await call(await createToken());
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ code: 'invalid_token' });
    });

    test('a role without scopes, even if the token has valid scopes', async () => {
      const denied = { status: 403, code: 'insufficient_scope' };
      const token = await provider.sign({ groups: ['cleaning'], scope: 'ops:read wallet:admin' });
      expect(await (await call(token)).json()).toMatchObject(denied);
      const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"title":"x"}' };
      expect(await (await call(token, '/v1/quests', init)).json()).toMatchObject(denied);
      expect((await call(await provider.sign(), '/v1/quests', init)).status).toBe(201);
    });

    test('no request of a program that has the role; its token is ES256', async () => {
      const token = await provider.programToken('urn:platform');
      expect(decodeProtectedHeader(token).alg).toBe('ES256');
      expect((await call(token)).status).toBe(200);
    });
  });
});
