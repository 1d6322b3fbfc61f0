import { describe, expect, test } from 'vitest';
import { ownRedis } from '../test/own-redis.ts';
import { createPasswords } from './password.ts';
import { createThrottle, type Throttle } from './throttle.ts';

const ann = { email: 'ann@example.test', address: '192.0.2.1' };
const wrong = async (admit: () => Promise<void>) => {
  await admit();
  return undefined;
};
const right = async (admit: () => Promise<void>) => {
  await admit();
  return 'welcome';
};
/** How many of so many wrong attempts had their password compared. */
const compared = async (attempts: Promise<unknown>[]) => {
  const results = await Promise.allSettled(attempts);
  for (const result of results) {
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 429 });
  }
  return results.filter(({ status }) => status === 'fulfilled').length;
};
const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const retryAfter = async (attempt: Promise<unknown>) => {
  const problem = await attempt.then(
    () => undefined,
    (error: { headers: Record<string, string> }) => error,
  );
  return Number(problem?.headers['Retry-After']);
};

describe.for(['Redis', 'memory'] as const)('counted in %s', (where) => {
  const redis = async () => (where === 'Redis' ? (await ownRedis()).connect() : undefined);

  test('ten failures in a row are compared, then even the right password is not, for 15 minutes', async () => {
    const throttle = createThrottle({ name: 'test', redis: await redis() });
    for (let at = 0; at < 10; at += 1) expect(await throttle(ann, wrong)).toBeUndefined();
    expect(await retryAfter(throttle(ann, right))).toBe(900);
    const later = await retryAfter(throttle({ ...ann, email: ' ANN@example.test' }, right));
    expect(later).toBeGreaterThan(890);
    expect(later).toBeLessThanOrEqual(900);
    expect(await throttle({ ...ann, email: 'bob@example.test' }, right)).toBe('welcome');
    expect(await throttle({ ...ann, address: '192.0.2.2' }, right)).toBe('welcome');
  });

  test('a success starts the row anew', async () => {
    const throttle = createThrottle({ name: 'test', redis: await redis() });
    for (let round = 0; round < 3; round += 1) {
      for (let at = 0; at < 9; at += 1) await throttle(ann, wrong);
      expect(await throttle(ann, right)).toBe('welcome');
    }
  });

  test('fifty wrong attempts at once: ten are compared', async () => {
    const throttle = createThrottle({ name: 'test', redis: await redis() });
    expect(await compared(times(50, () => throttle(ann, wrong)))).toBe(10);
  });

  test('a hundred failures a day from one address, over any number of emails', async () => {
    const throttle = createThrottle({ name: 'test', redis: await redis() });
    const from = (at: number) => throttle({ email: `u${at}@example.test`, address: ann.address }, wrong);
    expect(await compared(times(150, from))).toBe(100);
    const wait = await retryAfter(throttle({ email: 'new@example.test', address: ann.address }, right));
    expect(wait).toBeGreaterThan(86_300);
    expect(wait).toBeLessThanOrEqual(86_400);
    expect(await throttle({ email: 'new@example.test', address: '192.0.2.2' }, right)).toBe('welcome');
  });

  test('successes cost the address nothing, refused attempts neither', async () => {
    const throttle = createThrottle({ name: 'test', redis: await redis(), aDay: 12 });
    for (let at = 0; at < 30; at += 1) await throttle(ann, right);
    for (let at = 0; at < 10; at += 1) await throttle(ann, wrong);
    expect(await compared(times(30, () => throttle(ann, wrong)))).toBe(0);
    const other = { ...ann, email: 'bob@example.test' };
    expect(await compared(times(30, () => throttle(other, wrong)))).toBe(2);
  });

  test('an attempt that fails for another reason is given back', async () => {
    const throttle = createThrottle({ name: 'test', redis: await redis(), aDay: 11 });
    const broken = async (admit: () => Promise<void>) => {
      await admit();
      throw new Error('database away');
    };
    for (let at = 0; at < 30; at += 1) await expect(throttle(ann, broken)).rejects.toThrow('database away');
    expect(await compared(times(30, () => throttle(ann, wrong)))).toBe(10);
  });

  test('a failure counts although nobody asked to be admitted', async () => {
    const throttle = createThrottle({ name: 'test', redis: await redis() });
    const careless = () => Promise.resolve(undefined);
    expect(await compared(times(50, () => throttle(ann, careless)))).toBe(10);
  });

  test('one IPv6 network counts as one address', async () => {
    const throttle = createThrottle({ name: 'test', redis: await redis() });
    const from = (at: number) => throttle({ ...ann, address: `2001:db8::${at + 1}` }, wrong);
    expect(await compared(times(50, from))).toBe(10);
  });
});

test('a hundred right logins of one user at once all pass, since they are counted one turn at a time', async () => {
  const { connect } = await ownRedis();
  const throttle = createThrottle({ name: 'test', redis: await connect() });
  const passwords = createPasswords();
  const stored = await passwords.hash('correct horse');
  const login = (password: string) =>
    throttle(ann, async (admit) => {
      const { matches } = await passwords.verify(stored, password, admit);
      return matches ? 'welcome' : undefined;
    });
  expect(await Promise.all(times(100, () => login('correct horse')))).toEqual(times(100, () => 'welcome'));
  expect(await compared(times(50, () => login('wrong horse')))).toBe(10);
});

test('two instances share one count, and no email stands in Redis', async () => {
  const { connect } = await ownRedis();
  const redis = await connect();
  const [one, two] = [redis, await connect()].map((open) => createThrottle({ name: 'test', redis: open }));
  const both = times(50, (at) => ((at % 2 === 0 ? one : two) as Throttle)(ann, wrong));
  expect(await compared(both)).toBe(10);
  const keys = await redis.keys('*');
  expect(keys).toHaveLength(2);
  expect(keys.join()).not.toMatch(/ann|example/);
});

test('Redis killed: logins go on, guessing stays slow; Redis back: the same', async () => {
  const { server, connect } = await ownRedis();
  const redis = await connect();
  const throttle = createThrottle({ name: 'test', redis });
  for (let at = 0; at < 5; at += 1) await throttle(ann, wrong);
  await server.kill9();
  await expect.poll(() => redis.status).not.toBe('ready');
  expect(await throttle(ann, right)).toBe('welcome');
  expect(await compared(times(50, () => throttle(ann, wrong)))).toBe(10);
  await server.restart();
  await expect.poll(() => redis.status, { timeout: 10_000 }).toBe('ready');
  expect(await compared(times(50, () => throttle(ann, wrong)))).toBe(10);
  expect(await throttle({ ...ann, email: 'bob@example.test' }, right)).toBe('welcome');
});
