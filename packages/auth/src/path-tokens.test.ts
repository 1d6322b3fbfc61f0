import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  createPathTokens,
  hashSentToken,
  hashPathToken,
  makePathToken,
  type PathTokenOptions,
  type PathTokenRow,
} from './path-tokens.ts';

interface Row extends PathTokenRow {
  store: string;
}

let elapsedMs = 0;
beforeEach(() => {
  const start = performance.now();
  elapsedMs = 0;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.spyOn(performance, 'now').mockImplementation(() => start + elapsedMs);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Moves the clock of caches (performance.now) and timeouts. */
const advanceTime = async (ms: number) => {
  elapsedMs += ms;
  await vi.advanceTimersByTimeAsync(ms);
};

/** Rejects like the database driver. */
const rejectAsUnreachable = () =>
  Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED', query: 'select' }));

const inPast = new Date(0).toISOString();

const setUp = (more: Partial<PathTokenOptions<Row>> = {}) => {
  const { token, tokenHash } = makePathToken();
  const state = {
    row: { tokenHash, graceUntil: null, store: 's1' } as Row | undefined,
    isDown: false,
    lookups: 0,
  };
  const tokens = createPathTokens<Row>({
    find: (hash) => {
      state.lookups += 1;
      if (state.isDown) return rejectAsUnreachable();
      return Promise.resolve(hash === state.row?.tokenHash ? state.row : undefined);
    },
    ...more,
  });
  return { token, tokens, state, recognise: (text = token) => tokens.recognise(hashSentToken(text)) };
};

test('a token has 256 random bits, and only its hash is stored', () => {
  const created = makePathToken();
  expect(created.token).toMatch(/^[\w-]{43}$/);
  expect(created.tokenHash).toBe(hashPathToken(created.token));
  expect(makePathToken().token).not.toBe(created.token);
});

test('a known token is recognised, with one query for many at once', async () => {
  const { recognise, state } = setUp();
  const results = await Promise.all(Array.from({ length: 20 }, () => recognise()));
  expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
  expect(results[0]).toMatchObject({ state: 'known', inGrace: false, row: { store: 's1' } });
  expect(state.lookups).toBe(1);
});

test('an unknown token is unknown; malformed ones are not looked up', async () => {
  const { recognise, state, token } = setUp();
  const { token: other, tokenHash } = makePathToken();
  expect(await recognise(other)).toEqual({ state: 'unknown', tokenHash });
  expect(await recognise(other)).toEqual({ state: 'unknown', tokenHash });
  expect(state.lookups).toBe(1);
  for (const junk of [
    '',
    'x',
    `${token}x`,
    token.slice(1),
    `${token.slice(1)}\0`,
    '%2e%2e',
    'x'.repeat(100_000),
  ]) {
    expect(await recognise(junk)).toEqual({ state: 'unknown' });
  }
  expect(state.lookups).toBe(1);
});

test('a replaced token works until its grace period ends, and is marked', async () => {
  let now = new Date('2026-01-02T03:04:05Z');
  const { recognise, state } = setUp({ now: () => now });
  const graceUntil = new Date(now.getTime() + 1000);
  state.row = { tokenHash: '', store: 's1', ...state.row, graceUntil: graceUntil.toISOString() };
  expect(await recognise()).toMatchObject({ state: 'known', inGrace: true });
  now = graceUntil;
  expect(await recognise()).toEqual({ state: 'unknown' });
});

test('a rotation takes effect within a second, a new token at once', async () => {
  const { recognise, state } = setUp();
  await recognise();
  const next = makePathToken();
  state.row = { tokenHash: next.tokenHash, graceUntil: null, store: 's1' };
  expect(await recognise(next.token)).toMatchObject({ state: 'known' });
  await advanceTime(1000);
  expect(await recognise()).toMatchObject({ state: 'unknown' });
});

test('while the database is down, a recently used token is known and others are undecidable', async () => {
  const { recognise, state, token } = setUp({ ttlMs: 1 });
  await recognise();
  state.isDown = true;
  await advanceTime(5);
  expect(await recognise()).toMatchObject({ state: 'known', row: { store: 's1' } });
  expect(await recognise(makePathToken().token)).toEqual({ state: 'undecidable' });
  expect(await recognise(token.slice(1))).toEqual({ state: 'unknown' });
  await advanceTime(5);
  state.isDown = false;
  state.row = undefined;
  expect(await recognise()).toMatchObject({ state: 'unknown' });
  state.isDown = true;
  await advanceTime(5);
  expect(await recognise()).toMatchObject({ state: 'unknown' });
  await advanceTime(60_000);
  expect(await recognise()).toEqual({ state: 'undecidable' });
});

test('a token is remembered no longer than configured', async () => {
  const { recognise, state } = setUp({ ttlMs: 1, rememberMs: 50 });
  await recognise();
  state.isDown = true;
  await advanceTime(100);
  expect(await recognise()).toEqual({ state: 'undecidable' });
});

test('a database that hangs counts as unavailable', async () => {
  let hangs = false;
  const { tokenHash } = makePathToken();
  const row: Row = { tokenHash, graceUntil: null, store: 's1' };
  const tokens = createPathTokens<Row>({
    find: () => (hangs ? new Promise(() => undefined) : Promise.resolve(row)),
    ttlMs: 1,
    timeoutMs: 50,
  });
  await tokens.recognise(tokenHash);
  hangs = true;
  await advanceTime(5);
  const result = tokens.recognise(tokenHash);
  await advanceTime(50);
  expect(await result).toMatchObject({ state: 'known' });
});

test('while the database hangs, only the first look-ups wait for it; when it is back, tokens are looked up again', async () => {
  const { tokenHash } = makePathToken();
  const row: Row = { tokenHash, graceUntil: null, store: 's1' };
  let hanging: PromiseWithResolvers<Row | undefined> | undefined;
  const find = () => (hanging === undefined ? Promise.resolve(row) : hanging.promise);
  const tokens = createPathTokens<Row>({ find });
  const isAnsweredIn = async (ms: number): Promise<boolean> => {
    let answer: unknown;
    void tokens.recognise(tokenHash).then((result) => (answer = result));
    await advanceTime(ms);
    expect([undefined, { state: 'known', row, inGrace: false }]).toContainEqual(answer);
    return answer !== undefined;
  };
  await tokens.recognise(tokenHash);
  hanging = Promise.withResolvers();
  await advanceTime(751);
  expect(await isAnsweredIn(249)).toBe(false);
  await advanceTime(1);
  for (let turn = 0; turn < 3; turn++) {
    expect(await isAnsweredIn(100)).toBe(true);
    expect(await isAnsweredIn(0)).toBe(true);
    await advanceTime(750);
  }
  // Answers a look-up that had timed out.
  hanging.resolve(row);
  await advanceTime(0);
  hanging = Promise.withResolvers();
  expect(await isAnsweredIn(249)).toBe(false);
  hanging.resolve(undefined);
  await advanceTime(750);
  expect(await tokens.recognise(tokenHash)).toMatchObject({ state: 'unknown' });
});

test('a changed row is read from a slow database, too', async () => {
  const { tokenHash } = makePathToken();
  let row: Row = { tokenHash, graceUntil: null, store: 's1' };
  const find = () => new Promise<Row>((resolve) => void setTimeout(() => resolve(row), 1000));
  const tokens = createPathTokens<Row>({ find });
  const first = tokens.recognise(tokenHash);
  await advanceTime(1000);
  expect(await first).toMatchObject({ row });
  row = { ...row, store: 's2' };
  const read = tokens.refresh(tokenHash);
  await advanceTime(1000);
  await read;
  expect(tokens.validRow(tokenHash)).toEqual(row);
});

test('only the look-up of a token that was not valid before may be prevented', async () => {
  const { state, token } = setUp();
  const tokens = createPathTokens<Row>({ find: () => Promise.resolve(state.row), ttlMs: 1 });
  const prevent = () => {
    throw new Error('prevented');
  };
  const hash = hashSentToken(token);
  await expect(tokens.recognise(hash, prevent)).rejects.toThrow('prevented');
  await tokens.recognise(hash);
  await advanceTime(5);
  expect(await tokens.recognise(hash, prevent)).toMatchObject({ state: 'known' });
  const unknown = makePathToken().tokenHash;
  await tokens.recognise(unknown);
  await advanceTime(5);
  expect(await tokens.recognise(unknown, prevent)).toMatchObject({ state: 'unknown' });
  expect(await tokens.recognise(undefined, prevent)).toEqual({ state: 'unknown' });
});

test('a bug in the lookup does not make a token valid', async () => {
  let broken = false;
  const { tokenHash } = makePathToken();
  const row: Row = { tokenHash, graceUntil: null, store: 's1' };
  const find = () => (broken ? Promise.reject(new TypeError('bug')) : Promise.resolve(row));
  const tokens = createPathTokens<Row>({ find, ttlMs: 1 });
  await tokens.recognise(tokenHash);
  broken = true;
  await advanceTime(5);
  await expect(tokens.recognise(tokenHash)).rejects.toThrow('bug');
});

test('a row of another token is not accepted', async () => {
  const row: Row = { tokenHash: makePathToken().tokenHash, graceUntil: null, store: 's1' };
  const tokens = createPathTokens<Row>({ find: () => Promise.resolve(row) });
  expect(await tokens.recognise(makePathToken().tokenHash)).toMatchObject({ state: 'unknown' });
});

test('a replaced token ends at once, also while the database is down, and its end never moves later', async () => {
  const { recognise, tokens, state, token } = setUp();
  await recognise();
  state.isDown = true;
  const hash = hashPathToken(token);
  tokens.replaced(hash, inPast);
  tokens.replaced(hash, new Date(Date.now() + 60_000).toISOString());
  expect(await recognise()).toEqual({ state: 'unknown' });
  tokens.replaced(makePathToken().tokenHash, inPast);
  expect(tokens.verified()).toHaveLength(1);
});

test.each([
  ['once more', true],
  ['for the first time', false],
])(
  'a look-up %s that started before a rotation does not make the old token valid',
  async (_which, isKnown) => {
    const asked = Promise.withResolvers<Row>();
    const { tokenHash } = makePathToken();
    const row: Row = { tokenHash, graceUntil: null, store: 's1' };
    let find: () => Promise<Row> = () => Promise.resolve(row);
    const tokens = createPathTokens<Row>({ find: () => find() });
    if (isKnown) await tokens.recognise(tokenHash);
    await advanceTime(60_000);
    find = () => asked.promise;
    const inFlight = tokens.recognise(tokenHash);
    tokens.replaced(tokenHash, inPast);
    asked.resolve(row);
    await inFlight;
    find = rejectAsUnreachable;
    expect(await tokens.recognise(tokenHash)).toEqual({ state: isKnown ? 'unknown' : 'undecidable' });
  },
);

test('a token whose row has changed is looked up again', async () => {
  const { recognise, tokens, state, token } = setUp();
  await recognise();
  const changes = tokens.changes;
  if (state.row !== undefined) state.row = { ...state.row, store: 's2' };
  await tokens.refresh(hashPathToken(token));
  expect(await recognise()).toMatchObject({ row: { store: 's2' } });
  expect(tokens.changes).toBeGreaterThan(changes);
});
