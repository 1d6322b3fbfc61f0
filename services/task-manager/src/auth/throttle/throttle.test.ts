import { createPasswords } from '@platform/auth/password';
import { captureLog } from '@platform/service-kit/testing';
import { startTestRedis } from '@platform/service-kit/testing/test-redis';
import { describe, expect, test } from 'vitest';
import { createThrottle, type Attempt, type Throttle } from './throttle.ts';

const notKnown = () => Promise.resolve(false);
const known = () => Promise.resolve(true);
const ann: Attempt = { email: 'ann@example.test', address: '192.0.2.1', isKnown: notKnown };
const bob: Attempt = { ...ann, email: 'bob@example.test' };

type Admit = () => Promise<void>;
const wrong = async (admit: Admit) => {
  await admit();
  return undefined;
};
const right = async (admit: Admit) => {
  await admit();
  return 'welcome';
};
const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
/** How many of the attempts had their password compared; the others must be 429. */
const compared = async (attempts: Promise<unknown>[]) => {
  const results = await Promise.allSettled(attempts);
  for (const result of results) {
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 429 });
  }
  return results.filter(({ status }) => status === 'fulfilled').length;
};
/** Retry-After of a refused attempt; NaN when it was not refused. */
const waitOf = async (attempt: Promise<unknown>) => {
  const problem = await attempt.then(
    () => undefined,
    (error: { headers: Record<string, string> }) => error,
  );
  return Number(problem?.headers['Retry-After']);
};

describe.for(['Redis', 'memory'] as const)('counted in %s', (where) => {
  const start = async (options: Partial<Parameters<typeof createThrottle>[0]> = {}) => {
    const redis = where === 'Redis' ? await (await startTestRedis()).connect() : undefined;
    return createThrottle({ name: 'test', redis, ...options });
  };
  const fail = (throttle: Throttle, count: number, who = ann) =>
    compared(times(count, () => throttle.attempt(who, wrong)));

  test('after ten failures in a row even the right password is refused, for a minute', async () => {
    const throttle = await start();
    for (let at = 0; at < 10; at += 1) expect(await throttle.attempt(ann, wrong)).toBeUndefined();
    const again = { ...ann, email: ' ANN@example.test' };
    for (const who of [ann, again]) {
      const wait = await waitOf(throttle.attempt(who, right));
      expect(wait).toBeGreaterThan(50);
      expect(wait).toBeLessThanOrEqual(60);
    }
    expect(await throttle.attempt(bob, right)).toBe('welcome');
    expect(await throttle.attempt({ ...ann, address: '192.0.2.2' }, right)).toBe('welcome');
  });

  test('a success starts the count again', async () => {
    const throttle = await start();
    for (let round = 0; round < 3; round += 1) {
      for (let at = 0; at < 9; at += 1) await throttle.attempt(ann, wrong);
      expect(await throttle.attempt(ann, right)).toBe('welcome');
    }
  });

  test('of fifty wrong attempts at once, ten are compared', async () => {
    const throttle = await start();
    expect(await fail(throttle, 50)).toBe(10);
  });

  test('after a hundred failures for any emails, the network waits', async () => {
    const throttle = await start();
    const from = (at: number) => throttle.attempt({ ...ann, email: `u${at}@example.test` }, wrong);
    expect(await compared(times(150, from))).toBe(100);
    const wait = await waitOf(throttle.attempt(bob, right));
    expect(wait).toBeGreaterThan(50);
    expect(wait).toBeLessThanOrEqual(60);
    expect(await throttle.attempt({ ...bob, address: '192.0.2.2' }, right)).toBe('welcome');
  });

  test('a network that waits lets a known account in, and still limits guesses for it', async () => {
    const throttle = await start({ perNetwork: 10 });
    expect(await fail(throttle, 30, bob)).toBe(10);
    const member = { ...ann, isKnown: known };
    expect(await throttle.attempt(member, right)).toBe('welcome');
    expect(await fail(throttle, 30, member)).toBe(10);
    expect(await compared([throttle.attempt(ann, right)])).toBe(0);
  });

  test('a known account gets in when its account begins to wait, too, while its network is looked up', async () => {
    const throttle = await start({ perNetwork: 10, perAccount: 10 });
    await fail(throttle, 10, bob);
    const isKnown = async () => {
      await compared(times(10, (at) => throttle.attempt({ ...ann, address: `198.51.100.${at}` }, wrong)));
      return true;
    };
    expect(await throttle.attempt({ ...ann, isKnown }, right)).toBe('welcome');
  });

  test('successes and refused attempts do not count for the network', async () => {
    const throttle = await start({ perNetwork: 20 });
    for (let at = 0; at < 30; at += 1) await throttle.attempt(ann, right);
    expect(await fail(throttle, 50)).toBe(10);
    expect(await fail(throttle, 9, bob)).toBe(9);
    expect(await throttle.attempt({ ...bob, email: 'cid@example.test' }, right)).toBe('welcome');
  });

  test('an attempt that fails for another reason does not count', async () => {
    const throttle = await start({ perNetwork: 20 });
    const broken = async (admit: Admit) => {
      await admit();
      throw new Error('database unavailable');
    };
    for (let at = 0; at < 30; at += 1)
      await expect(throttle.attempt(ann, broken)).rejects.toThrow('database unavailable');
    expect(await fail(throttle, 30)).toBe(10);
  });

  test('a failure counts although admit was never called', async () => {
    const throttle = await start();
    const careless = () => Promise.resolve(undefined);
    expect(await compared(times(50, () => throttle.attempt(ann, careless)))).toBe(10);
  });

  test('the addresses of one IPv6 /64 count as one network', async () => {
    const throttle = await start();
    const from = (at: number) => throttle.attempt({ ...ann, address: `2001:db8::${at + 1}` }, wrong);
    expect(await compared(times(50, from))).toBe(10);
  });

  test('an IPv6 /56 gets four, a /48 sixteen times as many failures as a /64', async () => {
    const throttle = await start({ perNetwork: 10 });
    const guesses = (count: number, addressAt: (at: number) => string) =>
      compared(
        times(count, (at) =>
          throttle.attempt({ ...ann, email: `u${at}@example.test`, address: addressAt(at) }, wrong),
        ),
      );
    const hex = (at: number) => at.toString(16);
    expect(await guesses(20, (at) => `2001:db8:1:2::${hex(at)}`)).toBe(10);
    expect(await guesses(60, (at) => `2001:db8:2:2${hex(16 + at)}::1`)).toBe(40);
    expect(await guesses(200, (at) => `2001:db8:3:${hex(1 + at)}00::1`)).toBe(160);
    expect(await throttle.attempt({ ...bob, address: '2001:db8:4::1' }, right)).toBe('welcome');
  });

  test('after many failures for one email, networks wait that its account does not know, and no other', async () => {
    const throttle = await start({ perAccount: 30 });
    const from = (at: number, isKnown: Attempt['isKnown']) => ({
      ...ann,
      address: `198.51.100.${at}`,
      isKnown,
    });
    expect(await compared(times(60, (at) => throttle.attempt(from(at, notKnown), wrong)))).toBe(30);
    const wait = await waitOf(throttle.attempt(from(100, notKnown), right));
    expect(wait).toBeGreaterThan(50);
    expect(wait).toBeLessThanOrEqual(60);
    expect(await throttle.attempt(from(101, known), right)).toBe('welcome');
    expect(await throttle.attempt({ ...bob, address: '198.51.100.1' }, right)).toBe('welcome');
  });

  test('failures from networks that an account knows do not make other networks wait', async () => {
    const throttle = await start({ perAccount: 10 });
    for (let at = 0; at < 30; at += 1)
      await throttle.attempt({ ...ann, address: `198.51.100.${at}`, isKnown: known }, wrong);
    expect(await throttle.attempt(ann, right)).toBe('welcome');
  });

  test('an operator ends the wait of an account for all networks', async () => {
    const throttle = await start({ perAccount: 10 });
    for (let at = 0; at < 10; at += 1) await throttle.attempt({ ...ann, address: `198.51.100.${at}` }, wrong);
    expect(await compared([throttle.attempt(ann, right)])).toBe(0);
    await throttle.lift({ address: '192.0.2.1', email: ann.email });
    expect(await throttle.attempt(ann, right)).toBe('welcome');
  });

  test('an operator ends the wait of an account and of a network', async () => {
    const throttle = await start({ perNetwork: 10 });
    expect(await fail(throttle, 30)).toBe(10);
    await throttle.lift({ address: '192.0.2.1' });
    expect(await throttle.attempt(bob, right)).toBe('welcome');
    expect(await compared([throttle.attempt(ann, right)])).toBe(0);
    await throttle.lift({ address: '192.0.2.1', email: 'Ann@Example.test' });
    expect(await throttle.attempt(ann, right)).toBe('welcome');
  });
});

test('waits grow from a minute to an hour, with one attempt between two of them', async () => {
  const { connect } = await startTestRedis();
  const redis = await connect();
  const throttle = createThrottle({ name: 'test', redis });
  await compared(times(10, () => throttle.attempt(ann, wrong)));
  const waits: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    const wait = await waitOf(throttle.attempt(ann, wrong));
    waits.push(Math.ceil(wait / 60));
    for (const key of await redis.keys('*:pair:*')) await redis.hset(key, 'until', 0);
    expect(await compared(times(5, () => throttle.attempt(ann, wrong)))).toBe(1);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
});

test('a hundred right logins of one user at once all pass, because only those being compared count', async () => {
  const { connect } = await startTestRedis();
  const throttle = createThrottle({ name: 'test', redis: await connect() });
  const passwords = createPasswords();
  const stored = await passwords.hash('correct horse');
  const login = (password: string) =>
    throttle.attempt(ann, async (admit) => {
      const admitted = async () => {
        await admit();
        return stored;
      };
      const { matches } = await passwords.verify(admitted, password);
      return matches ? 'welcome' : undefined;
    });
  expect(await Promise.all(times(100, () => login('correct horse')))).toEqual(times(100, () => 'welcome'));
  expect(await compared(times(50, () => login('wrong horse')))).toBe(10);
});

test('a wrong login costs one round trip to Redis, a right one two', async () => {
  const { connect } = await startTestRedis();
  const redis = await connect();
  const throttle = createThrottle({ name: 'test', redis });
  const sent: number[] = [];
  const write = redis.stream.write.bind(redis.stream) as (...args: unknown[]) => boolean;
  Object.assign(redis.stream, {
    write: (...args: unknown[]) => {
      sent.push(1);
      return write(...args);
    },
  });
  await throttle.attempt({ ...ann, address: '2001:db8::1' }, wrong);
  expect(sent).toHaveLength(1);
  await throttle.attempt(bob, right);
  expect(sent).toHaveLength(3);
});

test('two instances share one count; neither Redis nor the log contains the email', async () => {
  const { connect } = await startTestRedis();
  const redis = await connect();
  const { log, lines } = captureLog();
  const instances = [redis, await connect()].map((open) =>
    createThrottle({ name: 'test', redis: open, log }),
  );
  const both = times(50, (at) => (instances[at % 2] as Throttle).attempt(ann, wrong));
  expect(await compared(both)).toBe(10);
  const keys = await redis.keys('*');
  // The account from this network, the account, the network.
  expect(keys).toHaveLength(3);
  expect(lines.join('')).toContain('too many failed logins');
  expect([...keys, ...lines].join()).not.toMatch(/ann|example/);
});

test('while Redis is down logins succeed and guesses stay limited, and the same after it is back', async () => {
  const { server, connect } = await startTestRedis();
  const redis = await connect();
  const throttle = createThrottle({ name: 'test', redis });
  const guess = () => compared(times(50, () => throttle.attempt(ann, wrong)));
  for (let at = 0; at < 5; at += 1) await throttle.attempt(ann, wrong);
  await server.kill9();
  await expect.poll(() => redis.status).not.toBe('ready');
  expect(await throttle.attempt(ann, right)).toBe('welcome');
  expect(await guess()).toBe(10);
  await server.restart();
  await expect.poll(() => redis.status).toBe('ready');
  expect(await guess()).toBe(10);
  expect(await throttle.attempt(bob, right)).toBe('welcome');
});
