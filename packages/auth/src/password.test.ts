import { AsyncLocalStorage } from 'node:async_hooks';
import { hash as argon2 } from '@node-rs/argon2';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { createPasswords, passwordProblems, type HashClient } from './password.ts';

const passwords = createPasswords();
const email = 'Ann@Example.test';

describe('a password', () => {
  test.for([
    'correct horse',
    'пароль-мой',
    '密码是一个很长的句子',
    '🦊🦊🐻🐻🦊🦊🐻🐻',
    ' leading and trailing ',
    'a\0bcdefgh',
  ])('may be any well-formed Unicode: %j', (password) => {
    expect(passwordProblems(password, email)).toEqual([]);
  });

  test('has 8 to 128 characters, counted as code points in normal form', () => {
    const isAllowed = (password: string) => passwordProblems(password, email).length === 0;
    expect([
      isAllowed('xq7-kd2'),
      isAllowed('xq7-kd2w'),
      isAllowed('🦊'.repeat(7)),
      isAllowed('🦊'.repeat(128)),
      isAllowed('🦊'.repeat(129)),
    ]).toEqual([false, true, false, true, false]);
    // 16 code points as sent, 8 in normal form; then 7.
    expect([isAllowed('q\u0302'.repeat(4) + 'e\u0301'.repeat(4)), isAllowed('e\u0301'.repeat(7))]).toEqual([
      true,
      false,
    ]);
  });

  test.for([
    'password',
    '12345678',
    'PassWord',
    'password1',
    '88888888',
    '987654321',
    'ｐａｓｓｗｏｒｄ',
    'Football',
    // With common substitutions and suffixes.
    'P@ssw0rd',
    'Password1!',
    'p4$$w0rd2026',
    'F00tb@ll!',
    'Sunshine#1',
    '|loveyou',
  ])('is not one of the most common: %s', (password) => {
    expect(passwordProblems(password, email)).toEqual(['is one of the most common passwords']);
  });

  test('may contain a common one, end with more than four extra signs, or have too short a core to compare', () => {
    for (const password of [
      'my-Password1!',
      'password84625',
      'correct horse battery',
      'a1234567-b',
      'q1w2-e3r4-t5',
    ])
      expect([password, passwordProblems(password, email)]).toEqual([password, []]);
  });

  test('is not blank', () => {
    for (const blank of [' '.repeat(8), '\u00a0'.repeat(20), '\u2003 \u2003 \u2003 \u2003 '])
      expect(passwordProblems(blank, email)).toEqual(['must not be blank']);
  });

  test('is not the email address, in any case or width', () => {
    for (const same of ['ann@example.test', 'ANN@EXAMPLE.TEST', 'ａnn@example.test'])
      expect(passwordProblems(same, ` ${email} `)).toEqual(['must not be the email address']);
  });

  test('must not contain a lone surrogate', () => {
    expect(passwordProblems('abcdefgh\ud800', email)).toEqual(['must be well-formed Unicode']);
  });

  test('is compared with the email address without normalizing it, which takes seconds for many combining marks', () => {
    using normalize = vi.spyOn(String.prototype, 'normalize');
    passwordProblems('correct horse battery', `a${'\u0300'.repeat(24_000)}${'\u0316'.repeat(24_000)}`);
    expect(normalize.mock.contexts.map(String)).toEqual(['correct horse battery']);
  });

  test('of a megabyte is refused', () => {
    expect(passwordProblems('x'.repeat(1_000_000), email)).toEqual(['must have at most 128 characters']);
  });
});

describe('hashing', () => {
  test('is argon2id with the parameters in the string, salted', async () => {
    const [first, second] = await Promise.all([
      passwords.hash('correct horse'),
      passwords.hash('correct horse'),
    ]);
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[^$]{22}\$[^$]{43}$/);
    expect(first).not.toBe(second);
  });

  test('accepts the right password and refuses wrong ones', async () => {
    const stored = await passwords.hash('correct horse');
    expect(await passwords.verify(stored, 'correct horse')).toEqual({ matches: true, rehash: false });
    for (const wrong of ['Correct horse', 'correct horse ', '', 'correct horse\0', 'correct horse\ud800']) {
      expect(await passwords.verify(stored, wrong)).toEqual({ matches: false, rehash: false });
    }
  });

  test('treats all normal forms of the same characters as the same password', async () => {
    const stored = await passwords.hash('ﬁancé-Åland-①');
    expect((await passwords.verify(stored, 'fiance\u0301-A\u030Aland-1')).matches).toBe(true);
  });

  test('asks for a rehash when the stored hash has other parameters', async () => {
    for (const other of [{ memoryCost: 4096 }, { timeCost: 3 }, { parallelism: 2 }, { algorithm: 1 }]) {
      const stored = await argon2('correct horse', other);
      expect(await passwords.verify(stored, 'correct horse')).toEqual({ matches: true, rehash: true });
      expect(await passwords.verify(stored, 'wrong horse')).toEqual({ matches: false, rehash: false });
    }
  });

  test('never matches for an unknown user, but asks for the stored hash', async () => {
    let lookups = 0;
    const verdict = await passwords.verify(async () => {
      lookups += 1;
      return undefined;
    }, 'correct horse');
    expect(verdict).toEqual({ matches: false, rehash: false });
    expect(lookups).toBe(1);
  });

  test('does not normalise or hash a password of one megabyte', async () => {
    const stored = await passwords.hash('correct horse');
    const huge = 'x'.repeat(1_000_000);
    expect((await passwords.verify(stored, huge)).matches).toBe(false);
    await expect(passwords.hash(huge)).rejects.toThrow('breaks the password rules');
  });

  test('verifies every password that passes the rules', async () => {
    const candidate = fc.string({ unit: 'grapheme', minLength: 8, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(candidate, async (password) => {
        fc.pre(passwordProblems(password, email).length === 0);
        expect((await passwords.verify(await passwords.hash(password), password)).matches).toBe(true);
      }),
      { numRuns: 15 },
    );
  });
});

describe('the queue', () => {
  const office = { address: '192.0.2.1', email: 'mallory@example.test' };
  /** Logins whose stored hashes are looked up one after the other, in the order of their turns. */
  const setUp = (options: Parameters<typeof createPasswords>[0]) => {
    const queue = createPasswords(options);
    const turns: string[] = [];
    const login = (name: string, client: HashClient) =>
      queue.verify(
        async () => {
          // Ends the flood early to save time.
          if (name === 'flood' && turns.includes('honest')) throw new Error('over');
          turns.push(name);
          return undefined;
        },
        'correct horse',
        client,
      );
    return { turns, login };
  };

  test('serves one login among the first few of 250 from another network, and refuses only the others', async () => {
    const { turns, login } = setUp({ concurrency: 1 });
    const flood = Array.from({ length: 250 }, (_, at) => login('flood', { ...office, email: `u${at}` }));
    const settled = Promise.allSettled(flood);
    const honest = await login('honest', { ...office, address: '192.0.2.2' });
    expect(honest.matches).toBe(false);
    expect(turns.indexOf('honest')).toBeLessThan(5);
    expect(turns.length).toBeLessThan(12);
    const busy = (await settled).filter((result) => 'reason' in result && result.reason.code === 'busy');
    // Three were started, 200 wait, and the honest login takes the place of one.
    expect(busy).toHaveLength(250 - 3 - 200 + 1);
  });

  test('counts an IPv6 /48 as one network', async () => {
    const { turns, login } = setUp({ concurrency: 1 });
    const hex = (at: number) => (at * 257).toString(16);
    const flood = Array.from({ length: 150 }, (_, at) =>
      login('flood', { ...office, address: `2001:db8:1:${hex(at)}::1` }),
    );
    const settled = Promise.allSettled(flood);
    await login('honest', { ...office, address: '2001:db8:2::1' });
    expect(turns.indexOf('honest')).toBeLessThan(5);
    await settled;
  });

  test('lets the emails of one network take turns', async () => {
    const { turns, login } = setUp({ concurrency: 1 });
    const settled = Promise.allSettled(Array.from({ length: 50 }, () => login('flood', office)));
    await login('honest', { ...office, email: 'ann@example.test' });
    expect(turns.indexOf('honest')).toBeLessThan(5);
    await settled;
  });

  test('hashes others while one waits for its stored hash', async () => {
    const small = createPasswords({ concurrency: 1 });
    const slow = Promise.withResolvers<undefined>();
    const first = small.verify(() => slow.promise, 'correct horse', office);
    for (let count = 0; count < 3; count++)
      expect((await small.verify(undefined, 'correct horse')).matches).toBe(false);
    slow.resolve(undefined);
    expect((await first).matches).toBe(false);
  });

  test('asks for few stored hashes at once, and answers busy when it is full', async () => {
    const small = createPasswords({ concurrency: 2, waiting: 3 });
    let running = 0;
    let most = 0;
    const turns: (() => void)[] = [];
    const stored = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => turns.push(resolve));
      running -= 1;
      return undefined;
    };
    const attempts = Array.from({ length: 10 }, () => small.verify(stored, 'correct horse'));
    const settled = Promise.allSettled(attempts);
    await expect.poll(() => turns.length).toBe(4);
    for (let done = 0; done < 7; done += 1) {
      await expect.poll(() => turns.length).toBeGreaterThan(0);
      turns.shift()?.();
    }
    const results = await settled;
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(refused).toHaveLength(3);
    for (const reason of refused) {
      expect(reason).toMatchObject({ status: 503, code: 'busy', headers: { 'Retry-After': '2' } });
    }
    expect(most).toBe(4);
  });

  test('starts as many hashes a second as configured; further ones wait or get busy', async () => {
    const slow = createPasswords({ concurrency: 1, perSecond: 2, waiting: 3 });
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => slow.hash('correct horse')));
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(refused.map((result) => 'reason' in result && result.reason.code)).toEqual(Array(4).fill('busy'));
  });

  test('computes nothing for an attempt that is not admitted, and continues with the next', async () => {
    const small = createPasswords({ concurrency: 1 });
    const refuse = () => Promise.reject(new Error('throttled'));
    const refused = Array.from({ length: 20 }, () => small.verify(refuse, 'correct horse'));
    for (const { status } of await Promise.allSettled(refused)) expect(status).toBe('rejected');
    expect((await small.verify(undefined, 'correct horse')).matches).toBe(false);
  });

  test('looks a stored hash up in the context of the waiting request, not of the one that has finished', async () => {
    const small = createPasswords({ concurrency: 1 });
    const scope = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const login = (name: string) =>
      scope.run(name, () =>
        small.verify(async () => {
          seen.push(scope.getStore());
          return undefined;
        }, 'correct horse'),
      );
    const names = Array.from({ length: 6 }, (_, at) => `request ${at}`);
    await Promise.all(names.map(login));
    expect(seen).toEqual(names);
  });
});
