import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { jwtVerify } from 'jose';
import { createTokenVerifier } from './bearer.ts';
import { createKeySource } from './key-source.ts';
import { makeTestKeys } from './testing/keys.ts';

const first = await makeTestKeys();
const second = await makeTestKeys();
const { issuer, audience } = first;

/** An identity provider whose answer the test can change. */
const provider = async (answer: RequestListener) => {
  const state = { answer, requests: 0 };
  const server = createServer((req, res) => {
    state.requests += 1;
    state.answer(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`,
  });
};
const answerWith =
  (value: unknown, status = 200): RequestListener =>
  (_req, res) => {
    res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
  };
const temporaryFile = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keys-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'jwks.json');
};
const verifies = async (source: ReturnType<typeof createKeySource>, token: string) =>
  (await jwtVerify(token, source)).payload.sub;

test('the keys of a provider are fetched once for many tokens', async () => {
  const idp = await provider(answerWith(first.jwks));
  const tokens = createTokenVerifier({ jwks: idp.url, issuer, audience });
  const many = await Promise.all(Array.from({ length: 20 }, () => first.token({ sub: 'ann' })));
  const callers = await Promise.all(many.map((token) => tokens.verify(token)));
  expect(callers.map(({ subject }) => subject)).toEqual(many.map(() => 'ann'));
  expect(idp.requests).toBe(1);
});

test('a new key is found without a restart, in a file and at a provider', async () => {
  const path = await temporaryFile();
  const idp = await provider(answerWith({}));
  for (const jwks of [path, idp.url]) {
    await writeFile(path, JSON.stringify(first.jwks));
    idp.answer = answerWith(first.jwks);
    const source = createKeySource({ jwks, cooldownMs: 0 });
    await verifies(source, await first.token());
    idp.answer = answerWith(second.jwks);
    await writeFile(path, JSON.stringify(second.jwks));
    expect(await verifies(source, await second.token({ sub: 'bob' }))).toBe('bob');
  }
});

test('a key that was removed is refused once the old keys were read again', async () => {
  const idp = await provider(answerWith(first.jwks));
  const source = createKeySource({ jwks: idp.url, cooldownMs: 0, maxAgeMs: 0 });
  await verifies(source, await first.token());
  idp.answer = answerWith(second.jwks);
  const token = await first.token();
  const outcome = () => verifies(source, token).catch((error: { code?: string }) => error.code);
  await expect.poll(outcome).toBe('ERR_JWKS_NO_MATCHING_KEY');
});

test('a provider that never answers does not delay tokens whose key is known', async () => {
  const idp = await provider(answerWith(first.jwks));
  const source = createKeySource({ jwks: idp.url, cooldownMs: 0, maxAgeMs: 0, timeoutMs: 600_000 });
  await verifies(source, await first.token());
  const held: ServerResponse[] = [];
  idp.answer = (_req, res) => void held.push(res);
  await verifies(source, await first.token());
  await expect.poll(() => held.length).toBe(1);
  expect(await verifies(source, await first.token({ sub: 'ann' }))).toBe('ann');
  // One request is still open; its response contains the new key.
  const fresh = verifies(source, await second.token({ sub: 'bob' }));
  expect(held).toHaveLength(1);
  held[0]?.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(second.jwks));
  expect(await fresh).toBe('bob');
});

test('unknown key ids do not cause repeated requests to the provider', async () => {
  const idp = await provider(answerWith(first.jwks));
  const tokens = createTokenVerifier({ jwks: idp.url, issuer, audience });
  for (let i = 0; i < 20; i += 1) {
    const token = await first.token({ header: { kid: `made-up-${i}` } });
    await expect(tokens.verify(token)).rejects.toMatchObject({ status: 401 });
  }
  expect(idp.requests).toBe(1);
});

const faults: Record<string, RequestListener> = {
  'answers 500': answerWith({}, 500),
  'answers something else': answerWith({ hello: 'world' }),
  redirects: (_req, res) => res.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end(),
  'cuts the connection': (_req, res) => res.destroy(),
  'never answers': () => undefined,
};

test.for(Object.entries(faults))(
  'when the provider %s, the last keys stay in use and an unknown key gets 503',
  async ([, fault]) => {
    const idp = await provider(answerWith(first.jwks));
    const source = createKeySource({ jwks: idp.url, cooldownMs: 0, maxAgeMs: 0, timeoutMs: 2000 });
    await verifies(source, await first.token());
    idp.answer = fault;
    expect(await verifies(source, await first.token({ sub: 'ann' }))).toBe('ann');
    await expect(verifies(source, await second.token())).rejects.toMatchObject({
      status: 503,
      code: 'keys_unavailable',
    });
    idp.answer = answerWith(second.jwks);
    await expect(verifies(source, await second.token({ sub: 'bob' }))).resolves.toBe('bob');
  },
);

test('without any keys the answer is 503, never 401, until they can be read', async () => {
  const path = await temporaryFile();
  const source = createKeySource({ jwks: path, cooldownMs: 0 });
  await expect(verifies(source, await first.token())).rejects.toMatchObject({ status: 503 });
  await writeFile(path, '{"keys": [');
  await expect(verifies(source, await first.token())).rejects.toMatchObject({ status: 503 });
  await writeFile(path, JSON.stringify(first.jwks));
  expect(await verifies(source, await first.token({ sub: 'ann' }))).toBe('ann');
});
