import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { commonEnv, readEnv } from './env.ts';

const enough = { PORT: '4101', DATABASE_URL: 'postgres://u:p@localhost/d' };

test('fills in what may be left out', () => {
  expect(readEnv(commonEnv, enough)).toMatchObject({ PORT: 4101, HOST: '127.0.0.1', RATE_LIMIT: 'on' });
});

test('names every variable that is missing or wrong, never a value', () => {
  const read = () => readEnv(commonEnv, { PORT: 'secret-a', REDIS_URL: 'http://secret-b' });
  expect(read).toThrow(/PORT[^]*DATABASE_URL[^]*REDIS_URL/);
  expect(read).not.toThrow(/secret/);
});

test('an empty variable counts as absent', () => {
  expect(readEnv(commonEnv, { ...enough, REDIS_URL: '' }).REDIS_URL).toBeUndefined();
});

test('a secret may stand in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'env-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'url'), 'postgres://u:p@elsewhere/d\n');
  const env = readEnv(commonEnv, { ...enough, DATABASE_URL_FILE: join(folder, 'url') });
  expect(env.DATABASE_URL).toBe('postgres://u:p@elsewhere/d');
});
