import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { at, newEmail, register, startService } from '../../test/harness.ts';
import { openPwnedPasswords } from './pwned-passwords.ts';

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex').toUpperCase();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pwned-'));
});
afterAll(() => rm(folder, { recursive: true }));

const writeHashFile = async (name: string, lines: readonly string[], end = '\n'): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, lines.map((line) => line + end).join(''));
  return path;
};

describe('the file of leaked passwords', () => {
  test.each([
    ['counts and CRLF', (n: number) => `:${n ** 3}`, '\r\n'],
    ['only hashes', () => '', '\n'],
  ])('with %s contains each of its passwords and no other', async (name, count, end) => {
    for (const size of [0, 1, 2, 3, 257]) {
      const passwords = Array.from({ length: size }, (_, n) => `password ${n} of ${name}`);
      const lines = passwords.map((password, n) => `${sha1(password)}${count(n)}`).toSorted();
      await using pwned = await openPwnedPasswords(await writeHashFile(`${size}${name}`, lines, end));
      for (const password of passwords)
        expect([password, await pwned.has(password)]).toEqual([password, true]);
      for (let n = 0; n < 50; n++) expect(await pwned.has(randomBytes(9).toString('base64'))).toBe(false);
    }
  });

  test('must exist: otherwise the service does not start', async () => {
    await expect(
      startService({ variables: { PWNED_PASSWORDS_FILE: join(folder, 'missing') } }),
    ).rejects.toThrow('ENOENT');
  });
});

test('a leaked password is refused at registration, also for an existing account, and when the password is changed', async () => {
  const leaked = 'violet umbrella sofa';
  const path = await writeHashFile('leaked', [sha1('x'), sha1(leaked)].toSorted());
  await using service = await startService({ variables: { PWNED_PASSWORDS_FILE: path } });
  const ada = await register(service.app);
  for (const email of [newEmail(), ada.email]) {
    const answer = await supertest(service.app).post(at('/auth/register')).send({ email, password: leaked });
    expect([answer.status, answer.body.errors]).toEqual([400, { password: ['is known from a leak'] }]);
  }
  const change = await ada
    .as('post', '/auth/password')
    .send({ currentPassword: 'correct horse battery', newPassword: leaked });
  expect([change.status, change.body.errors]).toEqual([400, { newPassword: ['is known from a leak'] }]);
});
