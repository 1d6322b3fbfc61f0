import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { commonEnv, migrationUrlOf, readEnv } from './env.ts';

const enough = { PORT: '4101', DATABASE_URL: 'postgres://u:p@localhost/d' };

test('fills in what may be left out', () => {
  expect(readEnv(commonEnv, enough)).toMatchObject({ PORT: 4101, HOST: '127.0.0.1', RATE_LIMIT: 'on' });
});

test('names every variable that is missing or wrong, never a value', () => {
  const read = () => readEnv(commonEnv, { PORT: 'secret-a', REDIS_URL: 'http://secret-b' });
  expect(read).toThrow(/PORT is wrong[^]*DATABASE_URL is missing[^]*REDIS_URL is wrong/);
  expect(read).not.toThrow(/secret/);
});

test('an empty variable counts as absent', () => {
  expect(readEnv(commonEnv, { ...enough, REDIS_URL: '' }).REDIS_URL).toBeUndefined();
});

test('a secret may be read from a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'env-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'url'), 'postgres://u:p@elsewhere/d\n');
  const env = readEnv(commonEnv, { PORT: '4101', DATABASE_URL_FILE: join(folder, 'url') });
  expect(env.DATABASE_URL).toBe('postgres://u:p@elsewhere/d');
});

test('for a file that does not exist the message has the variable, without the path', () => {
  const read = () =>
    readEnv(commonEnv, { ...enough, DATABASE_URL: '', DATABASE_URL_FILE: '/no/secret/here' });
  expect(read).toThrow('DATABASE_URL_FILE: the file does not exist');
  expect(read).not.toThrow(/secret/);
});

test('a database URL with several hosts is refused', () => {
  const read = () => readEnv(commonEnv, { ...enough, DATABASE_URL: 'postgres://u:p@one,two/d' });
  expect(read).toThrow('DATABASE_URL is wrong');
});

test('a value together with a file for it is refused', () => {
  expect(() => readEnv(commonEnv, { ...enough, PORT_FILE: '/run/secrets/port' })).toThrow(
    'PORT and PORT_FILE are both set',
  );
});

test('migrations use the URL of the owner, or else that of the service, also from a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'env-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'url'), 'postgres://owner:p@localhost/d\n');
  const MIGRATION_DATABASE_URL_FILE = join(folder, 'url');
  expect(migrationUrlOf({ ...enough, MIGRATION_DATABASE_URL_FILE })).toBe('postgres://owner:p@localhost/d');
  expect(migrationUrlOf(enough)).toBe(enough.DATABASE_URL);
  expect(() => migrationUrlOf({})).toThrow('Set MIGRATION_DATABASE_URL or DATABASE_URL');
});
