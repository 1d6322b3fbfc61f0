import fc from 'fast-check';
import { TooManyRequests } from '@platform/service-kit/problem';
import request from 'supertest';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { expectStatus, getWith, guarded } from '../test/guarded.ts';
import { base62, createApiKeys, hashApiKey, isApiKey, makeApiKey, type ApiKeyRow } from './api-keys.ts';

describe('the format', () => {
  test('is prefix, 190 random bits and a CRC32 in base62; only a hash and both ends are stored', () => {
    const { key, hash, display } = makeApiKey();
    expect(key).toMatch(/^vk_live_[0-9A-Za-z]{38}$/);
    expect(hash).toBe(hashApiKey(key));
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(display).toBe(`${key.slice(0, 11)}…${key.slice(-4)}`);
    expect(hash + display).not.toContain(key.slice(12, -5));
  });

  test('a new key has the right format; with any one character changed it does not', () => {
    const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-é';
    fc.assert(
      fc.property(
        fc.nat(45),
        fc.nat(letters.length - 1),
        fc.constantFrom('vk_live_', 'vk_test_', ''),
        (at, to, prefix) => {
          const { key } = makeApiKey(prefix);
          expect(isApiKey(key, prefix)).toBe(true);
          fc.pre(at < key.length && key[at] !== letters[to]);
          expect(isApiKey(key.slice(0, at) + letters[to] + key.slice(at + 1), prefix)).toBe(false);
        },
      ),
    );
  });

  test('keys are unique and use all 62 characters', () => {
    const keys = Array.from({ length: 500 }, () => makeApiKey('').key);
    expect(new Set(keys).size).toBe(500);
    expect(new Set(keys.join('')).size).toBe(62);
  });

  test.for([
    '',
    'vk_live_',
    'vk_test_x',
    `vk_live_${'A'.repeat(38)}`,
    ` ${makeApiKey().key}`,
    `${makeApiKey().key}\n`,
  ])('%j is not a key', (junk) => {
    expect(isApiKey(junk)).toBe(false);
  });

  test('base 62 keeps the order of numbers, and different numbers differ', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 62n ** 6n - 1n), fc.bigInt(0n, 62n ** 6n - 1n), (left, right) => {
        expect(base62(left, 6)).toHaveLength(6);
        expect(base62(left, 6) < base62(right, 6)).toBe(left < right);
      }),
    );
    expect([base62(0n, 2), base62(61n, 2), base62(62n, 2)]).toEqual(['00', '0z', '10']);
    expect(() => base62(62n ** 2n, 2)).toThrow(RangeError);
  });
});

const setUp = () => {
  const { key, hash } = makeApiKey();
  const row: ApiKeyRow = { id: 'k1', hash, scopes: ['verify:read'], isValid: true };
  const state = {
    row: row as ApiKeyRow | undefined,
    isDown: false,
    lookups: 0,
    touched: 0,
  };
  const keys = createApiKeys({
    find: (hashToFind) => {
      state.lookups += 1;
      if (state.isDown)
        return Promise.reject(Object.assign(new Error('down'), { code: 'ECONNREFUSED', query: 'select' }));
      return Promise.resolve(hashToFind === state.row?.hash ? state.row : undefined);
    },
    touch: () => {
      state.touched += 1;
      return state.isDown ? Promise.reject(new Error('down')) : Promise.resolve();
    },
  });
  const app = guarded(keys.guard('verify:read'), ({ id }) => ({ id }));
  const call = (value: string | undefined = key) =>
    value === '' ? request(app).get('/') : request(app).get('/').set('x-api-key', value);
  return { key, row, state, keys, app, call };
};

describe('the guard', () => {
  test('admits a key with the scope', async () => {
    const { call } = setUp();
    expect((await call().expect(200)).body).toEqual({ id: 'k1' });
  });

  test('gives the same answer for missing, malformed, unknown, invalid and repeated keys', async () => {
    const { call, state, row, app, key } = setUp();
    const answers = [await call(''), await call('vk_live_junk'), await call(makeApiKey().key)];
    state.row = { ...row, isValid: false };
    answers.push(await call());
    const seen = answers.map(({ status, body, headers }) => ({
      status,
      body,
      challenge: headers['www-authenticate'],
    }));
    expect(new Set(seen.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(seen[0]).toMatchObject({ status: 401, challenge: 'ApiKey realm="platform", header="X-API-Key"' });
    const twice = await getWith(app, [
      ['X-API-Key', key],
      ['X-API-Key', key],
    ]);
    expect(twice).toEqual({ status: 401, challenge: seen[0]?.challenge });
  });

  test('refuses a key without the scope and names the scope', async () => {
    const { keys, key } = setUp();
    const app = guarded(keys.guard('verify:admin'), ({ id }) => id);
    const answer = await request(app).get('/').set('X-API-Key', key).expect(403);
    expect(answer.body).toMatchObject({ code: 'insufficient_scope' });
    expect(answer.body.detail).toContain('verify:admin');
  });

  test('makes no query for malformed keys and one for many concurrent calls', async () => {
    const { state, call } = setUp();
    await expectStatus(call('vk_live_junk'), 401);
    expect(state.lookups).toBe(0);
    await Promise.all(Array.from({ length: 20 }, () => call().expect(200)));
    expect(state.lookups).toBe(1);
  });

  test('soon refuses a key that was revoked or has expired', async () => {
    const { state, row, call } = setUp();
    await expectStatus(call(), 200);
    state.row = { ...row, isValid: false };
    await expect.poll(async () => (await call()).status).toBe(401);
  });

  test('looks an unknown or revoked key up once a minute, until `forget` reports that the record has changed', async () => {
    const realNow = performance.now.bind(performance);
    let elapsedMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => realNow() + elapsedMs);
    onTestFinished(() => void vi.restoreAllMocks());
    const { state, row, keys, call } = setUp();
    for (const refused of [undefined, { ...row, isValid: false }]) {
      state.row = refused;
      keys.forget(row.hash);
      state.lookups = 0;
      for (let attempt = 0; attempt < 20; attempt++) await expectStatus(call(), 401);
      expect(state.lookups).toBe(1);
      state.row = row;
      elapsedMs += 50_000;
      await expectStatus(call(), 401);
      keys.forget(row.hash);
      await expectStatus(call(), 200);
    }
    state.row = undefined;
    keys.forget(row.hash);
    await expectStatus(call(), 401);
    state.row = row;
    elapsedMs += 61_000;
    await expectStatus(call(), 200);
  });

  test('does not remember an answer about a record that changed while it was looked up', async () => {
    const { key, hash } = makeApiKey();
    const answers: PromiseWithResolvers<ApiKeyRow | undefined>[] = [];
    const keys = createApiKeys({
      find: () => {
        const answer = Promise.withResolvers<ApiKeyRow | undefined>();
        answers.push(answer);
        return answer.promise;
      },
      touch: () => Promise.resolve(),
    });
    const app = guarded(keys.guard('verify:read'), ({ id }) => ({ id }));
    const call = () => request(app).get('/').set('x-api-key', key);
    const first = expectStatus(call(), 401);
    await expect.poll(() => answers.length).toBe(1);
    keys.forget(hash);
    answers[0]?.resolve(undefined);
    await first;
    const second = expectStatus(call(), 200);
    await expect.poll(() => answers.length).toBe(2);
    answers[1]?.resolve({ id: 'k1', hash, scopes: ['verify:read'], isValid: true });
    await second;
  });

  test('asks the limit before it looks a key up, unless it accepted the key within a minute', async () => {
    const { keys, state, key } = setUp();
    const limit = {
      checkGuesses: (credential: string) => {
        throw new TooManyRequests(1, credential);
      },
      checkCaller: () => undefined,
    };
    const strict = guarded(keys.guard('verify:read'), ({ id }) => ({ id }), limit);
    const callStrict = () => request(strict).get('/').set('x-api-key', key);
    expect((await callStrict()).body).toMatchObject({ status: 429, detail: 'api_key' });
    expect(state.lookups).toBe(0);
    const open = guarded(keys.guard('verify:read'), ({ id }) => ({ id }));
    await expectStatus(request(open).get('/').set('x-api-key', key), 200);
    await expectStatus(callStrict(), 200);
  });

  test('answers 503 while the database is down, and works when it is back', async () => {
    const { state, call } = setUp();
    state.isDown = true;
    await expectStatus(call(), 503);
    state.isDown = false;
    await expectStatus(call(), 200);
  });

  test('stores the use of a key once a minute; when that fails, the request still succeeds', async () => {
    const { state, call } = setUp();
    for (let at = 0; at < 5; at += 1) await expectStatus(call(), 200);
    expect(state.touched).toBe(1);
    const other = setUp();
    other.state.isDown = true;
    await expectStatus(other.call(), 503);
    expect(other.state.touched).toBe(0);
  });
});
