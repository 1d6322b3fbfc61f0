import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { commonEnv, migrationUrl, readEnv, tokenEnv, tokenOptions } from './env.ts';

const required = { PORT: '4101', DATABASE_URL: 'postgres://u:p@localhost/d' };

test('fills in the defaults of optional variables', () => {
  expect(readEnv(commonEnv, required)).toMatchObject({ PORT: 4101, HOST: '127.0.0.1', RATE_LIMIT: 'on' });
});

test('names every variable that is missing or wrong, never a value', () => {
  const read = () => readEnv(commonEnv, { PORT: 'secret-a', REDIS_URL: 'http://secret-b' });
  expect(read).toThrow(/PORT is wrong[^]*DATABASE_URL is missing[^]*REDIS_URL is wrong/);
  expect(read).not.toThrow(/secret/);
});

test('an empty variable counts as absent', () => {
  expect(readEnv(commonEnv, { ...required, REDIS_URL: '' }).REDIS_URL).toBeUndefined();
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
    readEnv(commonEnv, { ...required, DATABASE_URL: '', DATABASE_URL_FILE: '/no/secret/here' });
  expect(read).toThrow('DATABASE_URL_FILE: the file does not exist');
  expect(read).not.toThrow(/secret/);
});

test('a database URL with several hosts is refused', () => {
  const read = () => readEnv(commonEnv, { ...required, DATABASE_URL: 'postgres://u:p@one,two/d' });
  expect(read).toThrow('DATABASE_URL is wrong');
});

test('a value together with a file for it is refused', () => {
  expect(() => readEnv(commonEnv, { ...required, PORT_FILE: '/run/secrets/port' })).toThrow(
    'PORT and PORT_FILE are both set',
  );
});

test('migrations use the URL of the owner, or else that of the service, also from a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'env-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'url'), 'postgres://owner:p@localhost/d\n');
  const MIGRATION_DATABASE_URL_FILE = join(folder, 'url');
  const schema = '?search_path=quest_service%2Cextensions';
  const urlOf = (variables: Record<string, string>) => migrationUrl('quest-service', variables);
  expect(urlOf({ ...required, MIGRATION_DATABASE_URL_FILE })).toBe(`postgres://owner:p@localhost/d${schema}`);
  expect(urlOf(required)).toBe(`${required.DATABASE_URL}${schema}`);
  expect(() => urlOf({})).toThrow('Set MIGRATION_DATABASE_URL or DATABASE_URL');
});

const issuer = { AUTH_JWKS: 'keys.json', AUTH_ISSUER: 'issuer', AUTH_AUDIENCE: 'platform' };

test('the algorithm of access tokens is EdDSA, or those that AUTH_ALGORITHMS lists', () => {
  const algorithmsOf = (variables: object) => tokenOptions(readEnv(tokenEnv, { ...issuer, ...variables }));
  expect(algorithmsOf({})).toMatchObject({ algorithms: ['EdDSA'], roles: undefined });
  expect(algorithmsOf({ AUTH_ALGORITHMS: 'RS256,ES256' }).algorithms).toEqual(['RS256', 'ES256']);
});

test.each(['none', 'HS256', 'RS256,HS512', 'RS256,', 'rs256', 'RS256 ES256', 'RSA-OAEP'])(
  'an issuer cannot be trusted for %s: only signatures with a pair of keys are listed',
  (AUTH_ALGORITHMS) => {
    expect(() => readEnv(tokenEnv, { ...issuer, AUTH_ALGORITHMS })).toThrow('AUTH_ALGORITHMS is wrong');
  },
);

test('AUTH_ROLES names a claim, and scopes by its values', () => {
  const AUTH_ROLES = '{"claim":"groups","scopes":{"on call":"ops:read stores:read","__proto__":"ops:read"}}';
  const { roles } = tokenOptions(readEnv(tokenEnv, { ...issuer, AUTH_ROLES }));
  expect(roles?.claim).toBe('groups');
  expect(roles?.scopes.get('on call')).toBe('ops:read stores:read');
  expect(roles?.scopes.get('toString')).toBeUndefined();
});

test.each([
  ['groups', 'AUTH_ROLES is wrong: is not JSON'],
  ['{"claim":"groups"}', 'AUTH_ROLES is wrong: scopes '],
  ['{"claim":"","scopes":{}}', 'AUTH_ROLES is wrong: claim '],
  [
    '{"claim":"groups","scopes":{"a":""}}',
    'AUTH_ROLES is wrong: scopes.a must be scopes, separated by spaces',
  ],
  ['{"claim":"groups","scopes":{"a":["ops:read"]}}', 'AUTH_ROLES is wrong: scopes.a '],
  ['{"claim":"groups","scopes":{"a":"*"}}', 'AUTH_ROLES is wrong: scopes.a '],
])('AUTH_ROLES %s is refused', (AUTH_ROLES, message) => {
  expect(() => readEnv(tokenEnv, { ...issuer, AUTH_ROLES })).toThrow(message);
});
