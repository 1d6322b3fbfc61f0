import { createPasswords } from '@platform/auth/password';
import { captureLog } from '@platform/service-kit/testing';
import { startTestRedis } from '@platform/service-kit/testing/test-redis';
import { describe, expect, test } from 'vitest';
import { createThrottle, type Attempt, type Throttle } from './throttle.ts';

const unknownNetwork = () => Promise.resolve(false);
const knownNetwork = () => Promise.resolve(true);
const ann: Attempt = { email: 'ann@example.test', address: '192.0.2.1', isKnown: unknownNetwork };
const bob: Attempt = { ...ann, email: 'bob@example.test' };

type Admit = () => Promise<void>;
const verifyWrong = async (admit: Admit) => {
  await admit();
  return undefined;
};
const verifyRight = async (admit: Admit) => {
  await admit();
  return 'welcome';
};
const times = <T>(count: number, create: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => create(index));
/** Returns how many attempts had their password compared; the others must be 429. */
const countCompared = async (attempts: Promise<unknown>[]) => {
  const results = await Promise.allSettled(attempts);
  for (const result of results) {
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 429 });
  }
  return results.filter(({ status }) => status === 'fulfilled').length;
};
/** Retry-After of a refused attempt; NaN when it was not refused. */
const retryAfterOf = async (attempt: Promise<unknown>) => {
  const problem = await attempt.then(
    () => undefined,
    (error: { headers: Record<string, string> }) => error,
  );
  return Number(problem?.headers['Retry-After']);
};

describe.for(['Redis', 'memory'] as const)('counted in %s', (store) => {
  const start = async (options: Partial<Parameters<typeof createThrottle>[0]> = {}) => {
    const redis = store === 'Redis' ? await (await startTestRedis()).connect() : undefined;
    return createThrottle({ name: 'test', redis, ...options });
  };
  /** Sends wrong attempts and returns how many were compared. */
  const countFailures = (throttle: Throttle, count: number, attempt = ann) =>
    countCompared(times(count, () => throttle.attempt(attempt, verifyWrong)));

  test('after ten failures in a row even the right password is refused for a minute', async () => {
    const throttle = await start();
    for (let index = 0; index < 10; index += 1)
      expect(await throttle.attempt(ann, verifyWrong)).toBeUndefined();
    const otherSpelling = { ...ann, email: ' ANN@example.test' };
    for (const attempt of [ann, otherSpelling]) {
      const wait = await retryAfterOf(throttle.attempt(attempt, verifyRight));
      expect(wait).toBeGreaterThan(50);
      expect(wait).toBeLessThanOrEqual(60);
    }
    expect(await throttle.attempt(bob, verifyRight)).toBe('welcome');
    expect(await throttle.attempt({ ...ann, address: '192.0.2.2' }, verifyRight)).toBe('welcome');
  });

  test('a success resets the count', async () => {
    const throttle = await start();
    for (let round = 0; round < 3; round += 1) {
      for (let index = 0; index < 9; index += 1) await throttle.attempt(ann, verifyWrong);
      expect(await throttle.attempt(ann, verifyRight)).toBe('welcome');
    }
  });

  test('of fifty simultaneous wrong attempts only ten are compared', async () => {
    const throttle = await start();
    expect(await countFailures(throttle, 50)).toBe(10);
  });

  test('after a hundred failures for any emails, the network must wait', async () => {
    const throttle = await start();
    const from = (index: number) =>
      throttle.attempt({ ...ann, email: `u${index}@example.test` }, verifyWrong);
    expect(await countCompared(times(150, from))).toBe(100);
    const wait = await retryAfterOf(throttle.attempt(bob, verifyRight));
    expect(wait).toBeGreaterThan(50);
    expect(wait).toBeLessThanOrEqual(60);
    expect(await throttle.attempt({ ...bob, address: '192.0.2.2' }, verifyRight)).toBe('welcome');
  });

  test('a network that must wait admits a known account, and still limits countGuesses for it', async () => {
    const throttle = await start({ perNetwork: 10 });
    expect(await countFailures(throttle, 30, bob)).toBe(10);
    const member = { ...ann, isKnown: knownNetwork };
    expect(await throttle.attempt(member, verifyRight)).toBe('welcome');
    expect(await countFailures(throttle, 30, member)).toBe(10);
    expect(await countCompared([throttle.attempt(ann, verifyRight)])).toBe(0);
  });

  test('a known account is admitted although its account bucket starts to wait while its network is looked up', async () => {
    const throttle = await start({ perNetwork: 10, perAccount: 10 });
    await countFailures(throttle, 10, bob);
    const isKnown = async () => {
      await countCompared(
        times(10, (index) => throttle.attempt({ ...ann, address: `198.51.100.${index}` }, verifyWrong)),
      );
      return true;
    };
    expect(await throttle.attempt({ ...ann, isKnown }, verifyRight)).toBe('welcome');
  });

  test('successes and refused attempts do not count for the network', async () => {
    const throttle = await start({ perNetwork: 20 });
    for (let index = 0; index < 30; index += 1) await throttle.attempt(ann, verifyRight);
    expect(await countFailures(throttle, 50)).toBe(10);
    expect(await countFailures(throttle, 9, bob)).toBe(9);
    expect(await throttle.attempt({ ...bob, email: 'cid@example.test' }, verifyRight)).toBe('welcome');
  });

  test('an attempt that ends with an error does not count as a failure', async () => {
    const throttle = await start({ perNetwork: 20 });
    const verifyBroken = async (admit: Admit) => {
      await admit();
      throw new Error('database unavailable');
    };
    for (let index = 0; index < 30; index += 1)
      await expect(throttle.attempt(ann, verifyBroken)).rejects.toThrow('database unavailable');
    expect(await countFailures(throttle, 30)).toBe(10);
  });

  test('a failure counts even if `verify` never calls `admit`', async () => {
    const throttle = await start();
    const verifyWithoutAdmit = () => Promise.resolve(undefined);
    expect(await countCompared(times(50, () => throttle.attempt(ann, verifyWithoutAdmit)))).toBe(10);
  });

  test('the addresses of one IPv6 /64 count as one network', async () => {
    const throttle = await start();
    const from = (index: number) =>
      throttle.attempt({ ...ann, address: `2001:db8::${index + 1}` }, verifyWrong);
    expect(await countCompared(times(50, from))).toBe(10);
  });

  test('an IPv6 /56 may have four times, a /48 sixteen times as many failures as a /64', async () => {
    const throttle = await start({ perNetwork: 10 });
    const countGuesses = (count: number, addressAt: (index: number) => string) =>
      countCompared(
        times(count, (index) =>
          throttle.attempt(
            { ...ann, email: `u${index}@example.test`, address: addressAt(index) },
            verifyWrong,
          ),
        ),
      );
    const hex = (index: number) => index.toString(16);
    expect(await countGuesses(20, (index) => `2001:db8:1:2::${hex(index)}`)).toBe(10);
    expect(await countGuesses(60, (index) => `2001:db8:2:2${hex(16 + index)}::1`)).toBe(40);
    expect(await countGuesses(200, (index) => `2001:db8:3:${hex(1 + index)}00::1`)).toBe(160);
    expect(await throttle.attempt({ ...bob, address: '2001:db8:4::1' }, verifyRight)).toBe('welcome');
  });

  test('after many failures for one email, only networks must wait from which its account never logged in', async () => {
    const throttle = await start({ perAccount: 30 });
    const from = (index: number, isKnown: Attempt['isKnown']) => ({
      ...ann,
      address: `198.51.100.${index}`,
      isKnown,
    });
    expect(
      await countCompared(times(60, (index) => throttle.attempt(from(index, unknownNetwork), verifyWrong))),
    ).toBe(30);
    const wait = await retryAfterOf(throttle.attempt(from(100, unknownNetwork), verifyRight));
    expect(wait).toBeGreaterThan(50);
    expect(wait).toBeLessThanOrEqual(60);
    expect(await throttle.attempt(from(101, knownNetwork), verifyRight)).toBe('welcome');
    expect(await throttle.attempt({ ...bob, address: '198.51.100.1' }, verifyRight)).toBe('welcome');
  });

  test('failures from known networks of an account do not make other networks wait', async () => {
    const throttle = await start({ perAccount: 10 });
    for (let index = 0; index < 30; index += 1)
      await throttle.attempt({ ...ann, address: `198.51.100.${index}`, isKnown: knownNetwork }, verifyWrong);
    expect(await throttle.attempt(ann, verifyRight)).toBe('welcome');
  });

  test('an operator can end the wait of an account for all networks', async () => {
    const throttle = await start({ perAccount: 10 });
    for (let index = 0; index < 10; index += 1)
      await throttle.attempt({ ...ann, address: `198.51.100.${index}` }, verifyWrong);
    expect(await countCompared([throttle.attempt(ann, verifyRight)])).toBe(0);
    await throttle.lift({ address: '192.0.2.1', email: ann.email });
    expect(await throttle.attempt(ann, verifyRight)).toBe('welcome');
  });

  test('an operator can end the wait of a network, and of an account on it', async () => {
    const throttle = await start({ perNetwork: 10 });
    expect(await countFailures(throttle, 30)).toBe(10);
    await throttle.lift({ address: '192.0.2.1' });
    expect(await throttle.attempt(bob, verifyRight)).toBe('welcome');
    expect(await countCompared([throttle.attempt(ann, verifyRight)])).toBe(0);
    await throttle.lift({ address: '192.0.2.1', email: 'Ann@Example.test' });
    expect(await throttle.attempt(ann, verifyRight)).toBe('welcome');
  });
});

test('waits grow from a minute to an hour, with one attempt between two waits', async () => {
  const { connect } = await startTestRedis();
  const redis = await connect();
  const throttle = createThrottle({ name: 'test', redis });
  await countCompared(times(10, () => throttle.attempt(ann, verifyWrong)));
  const waits: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    const wait = await retryAfterOf(throttle.attempt(ann, verifyWrong));
    waits.push(Math.ceil(wait / 60));
    for (const key of await redis.keys('*:pair:*')) await redis.hset(key, 'until', 0);
    expect(await countCompared(times(5, () => throttle.attempt(ann, verifyWrong)))).toBe(1);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
});

test('a hundred simultaneous right logins of one user all pass, because an attempt counts only when it is compared', async () => {
  const { connect } = await startTestRedis();
  const throttle = createThrottle({ name: 'test', redis: await connect() });
  const passwords = createPasswords();
  const storedHash = await passwords.hash('correct horse');
  const login = (password: string) =>
    throttle.attempt(ann, async (admit) => {
      const admitAndReadHash = async () => {
        await admit();
        return storedHash;
      };
      const { matches } = await passwords.verify(admitAndReadHash, password);
      return matches ? 'welcome' : undefined;
    });
  expect(await Promise.all(times(100, () => login('correct horse')))).toEqual(times(100, () => 'welcome'));
  expect(await countCompared(times(50, () => login('verifyWrong horse')))).toBe(10);
});

test('a wrong login takes one round trip to Redis, a right login two', async () => {
  const { connect } = await startTestRedis();
  const redis = await connect();
  const throttle = createThrottle({ name: 'test', redis });
  let writes = 0;
  const write = redis.stream.write.bind(redis.stream) as (...args: unknown[]) => boolean;
  Object.assign(redis.stream, {
    write: (...args: unknown[]) => {
      writes++;
      return write(...args);
    },
  });
  await throttle.attempt({ ...ann, address: '2001:db8::1' }, verifyWrong);
  expect(writes).toBe(1);
  await throttle.attempt(bob, verifyRight);
  expect(writes).toBe(3);
});

test('two instances share one count; neither Redis nor the log contains the email', async () => {
  const { connect } = await startTestRedis();
  const redis = await connect();
  const { log, lines } = captureLog();
  const instances = [redis, await connect()].map((connection) =>
    createThrottle({ name: 'test', redis: connection, log }),
  );
  const attempts = times(50, (index) => (instances[index % 2] as Throttle).attempt(ann, verifyWrong));
  expect(await countCompared(attempts)).toBe(10);
  const keys = await redis.keys('*');
  // One key each for the account on this network, the account, and the network.
  expect(keys).toHaveLength(3);
  expect(lines.join('')).toContain('too many failed logins');
  expect([...keys, ...lines].join()).not.toMatch(/ann|example/);
});

test('while Redis is down logins succeed and countGuesses stay limited, and the same after it is back', async () => {
  const { server, connect } = await startTestRedis();
  const redis = await connect();
  const throttle = createThrottle({ name: 'test', redis });
  const countGuesses = () => countCompared(times(50, () => throttle.attempt(ann, verifyWrong)));
  for (let index = 0; index < 5; index += 1) await throttle.attempt(ann, verifyWrong);
  await server.kill9();
  await expect.poll(() => redis.status).not.toBe('ready');
  expect(await throttle.attempt(ann, verifyRight)).toBe('welcome');
  expect(await countGuesses()).toBe(10);
  await server.restart();
  await expect.poll(() => redis.status).toBe('ready');
  expect(await countGuesses()).toBe(10);
  expect(await throttle.attempt(bob, verifyRight)).toBe('welcome');
});
