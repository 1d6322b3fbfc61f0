import { hash as argon2 } from '@node-rs/argon2';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPasswords, passwordProblems } from './password.ts';

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
    const of = (password: string) => passwordProblems(password, email).length === 0;
    expect([
      of('xq7-kd2'),
      of('xq7-kd2w'),
      of('🦊'.repeat(7)),
      of('🦊'.repeat(128)),
      of('🦊'.repeat(129)),
    ]).toEqual([false, true, false, true, false]);
    // 16 code points as sent, 8 in normal form; then 7.
    expect([of('q\u0302'.repeat(4) + 'e\u0301'.repeat(4)), of('e\u0301'.repeat(7))]).toEqual([true, false]);
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
  ])('is not one of the most common: %s', (password) => {
    expect(passwordProblems(password, email)).toEqual(['is one of the most common passwords']);
  });

  test('is not the email address, in any case or width', () => {
    for (const same of ['ann@example.test', 'ANN@EXAMPLE.TEST', 'ａnn@example.test'])
      expect(passwordProblems(same, ` ${email} `)).toEqual(['must not be the email address']);
  });

  test('must not contain a lone surrogate', () => {
    expect(passwordProblems('abcdefgh\ud800', email)).toEqual(['must be well-formed Unicode']);
  });

  test('of a megabyte is refused', () => {
    expect(passwordProblems('x'.repeat(1_000_000), email)).toEqual(['must have at most 128 characters']);
  });
});

describe('hashing', () => {
  test('is argon2id with the parameters in the string, salted', async () => {
    const [one, two] = await Promise.all([passwords.hash('correct horse'), passwords.hash('correct horse')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[^$]{22}\$[^$]{43}$/);
    expect(one).not.toBe(two);
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

  test('never matches for an unknown user, but counts the attempt', async () => {
    let admitted = 0;
    const admit = () => {
      admitted += 1;
      return Promise.resolve();
    };
    const verdict = await passwords.verify(undefined, 'correct horse', admit);
    expect(verdict).toEqual({ matches: false, rehash: false });
    expect(admitted).toBe(1);
  });

  test('looks up the stored hash only when its turn has come, and not for a refused attempt', async () => {
    const small = createPasswords({ concurrency: 1 });
    const stored = await small.hash('correct horse');
    const steps: string[] = [];
    const attempt = (name: string, admit: () => Promise<void>) =>
      small.verify(
        async () => {
          steps.push(`${name} looked up`);
          return stored;
        },
        'correct horse',
        admit,
      );
    const admitted = (name: string) => async () => void steps.push(`${name} admitted`);
    const refuse = () => Promise.reject(new Error('throttled'));
    const [first, second, third] = await Promise.allSettled([
      attempt('first', admitted('first')),
      attempt('second', refuse),
      attempt('third', admitted('third')),
    ]);
    const right = { status: 'fulfilled', value: { matches: true, rehash: false } };
    expect([first, second.status, third]).toEqual([right, 'rejected', right]);
    expect(steps).toEqual(['first admitted', 'first looked up', 'third admitted', 'third looked up']);
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
  test('runs as many hashes at once as configured, and answers busy when it is full', async () => {
    const small = createPasswords({ concurrency: 2, waiting: 3 });
    let running = 0;
    let most = 0;
    const turns: (() => void)[] = [];
    const admit = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => turns.push(resolve));
      running -= 1;
    };
    const attempts = Array.from({ length: 8 }, () => small.verify(undefined, 'correct horse', admit));
    const settled = Promise.allSettled(attempts);
    await expect.poll(() => turns.length).toBe(2);
    for (let done = 0; done < 5; done += 1) {
      await expect.poll(() => turns.length).toBeGreaterThan(0);
      turns.shift()?.();
    }
    const results = await settled;
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(refused).toHaveLength(3);
    for (const reason of refused) {
      expect(reason).toMatchObject({ status: 503, code: 'busy', headers: { 'Retry-After': '2' } });
    }
    expect(most).toBe(2);
  });

  test('starts as many hashes a second as configured; further ones wait or get busy', async () => {
    const slow = createPasswords({ concurrency: 10, perSecond: 2, waiting: 3 });
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => slow.hash('correct horse')));
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(refused.map((result) => 'reason' in result && result.reason.code)).toEqual(Array(5).fill('busy'));
  });

  test('computes nothing for an attempt that is not admitted, and continues with the next', async () => {
    const small = createPasswords({ concurrency: 1 });
    const refuse = () => Promise.reject(new Error('throttled'));
    await expect(small.verify(undefined, 'correct horse', refuse)).rejects.toThrow('throttled');
    expect((await small.verify(undefined, 'correct horse')).matches).toBe(false);
  });
});
