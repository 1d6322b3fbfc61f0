import { expect, test } from 'vitest';
import { parseEnv } from './env.ts';

test('the service does not start with less memory for bodies than the largest list of questions needs', () => {
  const variables = {
    PORT: '0',
    DATABASE_URL: 'postgres://localhost/quests',
    AUTH_JWKS: 'keys.json',
    AUTH_ISSUER: 'issuer',
    SUBSCRIPTIONS_KEY: 'ab'.repeat(32),
    AUTH_AUDIENCE: 'audience',
  };
  expect(() => parseEnv({ ...variables, BODY_MEMORY_BYTES: '67108863' })).toThrow(
    'BODY_MEMORY_BYTES is wrong: must be at least 67108864',
  );
  expect(parseEnv({ ...variables, BODY_MEMORY_BYTES: '67108864' }).BODY_MEMORY_BYTES).toBe(67_108_864);
  expect(parseEnv(variables).BODY_MEMORY_BYTES).toBe(67_108_864);
});
