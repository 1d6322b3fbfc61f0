import { spawnSync } from 'node:child_process';
import supertest from 'supertest';
import { expect, onTestFinished, test } from 'vitest';
import { at, bearerOf, register, startService } from '../../test/harness.ts';
import { parseSigningKeys } from './signing-keys.ts';

const programPath = new URL('../signing-keys.ts', import.meta.url).pathname;
const rotate = (step: string, value: string) =>
  spawnSync(process.execPath, [programPath, step], { input: value, encoding: 'utf8' });
const keyIds = (value: string) => parseSigningKeys(value).map(({ x }) => x);
const [minute, accessMinutes] = [60_000, 15];

/** The values of AUTH_SIGNING_KEY before the rotation and after each step. */
const valuesOf = (value: string): string[] => {
  const values = [value];
  for (const step of ['add', 'use', 'retire']) values.push(rotate(step, values.at(-1) ?? '').stdout);
  return values;
};

/** A client with its current tokens. `issued` is the time of the access token on the clock of the test. */
interface Holder {
  access: string;
  cookie: string;
  issued: number;
}

test('while two replicas are rotated one after the other, no request with a valid token is refused', async () => {
  await using service = await startService();
  const { databaseUrl, context } = service;
  let clockOffset = 0;
  const now = () => new Date(Date.now() + clockOffset);
  const start = (AUTH_SIGNING_KEY: string) =>
    startService({ databaseUrl, variables: { AUTH_SIGNING_KEY }, overrides: { now } });
  const values = valuesOf(service.variables['AUTH_SIGNING_KEY'] ?? '');
  const stages = values.flatMap((value, n) => [
    [value, values[n - 1] ?? value],
    [value, value],
  ]);
  const holderOf = (answer: supertest.Response): Holder => ({
    access: String(answer.body.accessToken),
    cookie: /tasks_refresh=[\w-]+/.exec(String(answer.get('Set-Cookie')))?.[0] ?? '',
    issued: clockOffset,
  });
  const holders: Holder[] = [];
  for (const [firstValue = '', secondValue = ''] of stages) {
    await using first = await start(firstValue);
    await using second = await start(secondValue);
    const apps = [first.app, second.app];
    for (const app of apps) {
      for (let n = 0; n < 2; n++) holders.push(holderOf((await register(app)).answer));
    }
    const check = async ({ access }: Holder) => {
      for (const app of apps) expect((await bearerOf(app, access)('get', '/auth/check')).status).toBe(200);
    };
    for (const [n, holder] of holders.entries()) {
      const isValid = clockOffset - holder.issued < accessMinutes * minute;
      if (isValid) await check(holder);
      // Every second session refreshes in each stage at one replica, and again at the other, as after a lost response.
      if (n % 2 === 1) continue;
      for (const app of n % 4 === 0 ? apps : apps.toReversed()) {
        const access = isValid ? `; tasks_access=${holder.access}` : '';
        const answer = await supertest(app)
          .post(at('/auth/refresh'))
          .set('Cookie', holder.cookie + access);
        expect(answer.status).toBe(200);
        await check((holders[n] = holderOf(answer)));
      }
    }
    // The guide requires this wait only before the last step.
    if (firstValue === secondValue && firstValue === values[2]) clockOffset += (accessMinutes + 1) * minute;
    await context.database.sql`update sessions set rotated_at = rotated_at - interval '31 seconds'`;
  }
  expect(holders).toHaveLength(stages.length * 4);
});

test('reuse of a refresh token that was exchanged before a rotation ends its session until the key is retired', async () => {
  await using service = await startService();
  const [, , afterUse = '', afterRetire = ''] = valuesOf(service.variables['AUTH_SIGNING_KEY'] ?? '');
  for (const [AUTH_SIGNING_KEY, code] of [
    [afterUse, 'refresh_token_reused'],
    [afterRetire, 'invalid_refresh_token'],
  ] as const) {
    const { cookies } = await register(service.app);
    const refresh = (app: typeof service.app) =>
      supertest(app).post(at('/auth/refresh')).set('Cookie', cookies);
    await refresh(service.app);
    await service.context.database.sql`update sessions set rotated_at = rotated_at - interval '31 seconds'`;
    const other = await startService({ databaseUrl: service.databaseUrl, variables: { AUTH_SIGNING_KEY } });
    onTestFinished(() => other[Symbol.asyncDispose]());
    expect((await refresh(other.app)).body.code).toBe(code);
  }
});

test('the steps of a rotation add a key, make it the signing key, and remove the others', () => {
  const [initial = '', afterAdd = '', afterUse = '', afterRetire = ''] = valuesOf(
    rotate('retire', rotate('add', '{"kty":"OKP","x":"old"}').stdout).stdout,
  );
  const [oldKey, newKey] = keyIds(afterAdd);
  expect([initial, afterUse, afterRetire].map(keyIds)).toEqual([[oldKey], [newKey, oldKey], [newKey]]);
  expect(newKey).not.toBe(oldKey);
});

test.each([
  ['add', ''],
  ['use', 'secret'],
  ['use', '{"keys":[]}'],
  ['retire', 'null'],
  ['replace', '{"x":"secret"}'],
])('the step %s with the input %j fails without printing the input', (step, value) => {
  const { status, stdout, stderr } = rotate(step, value);
  expect([status, stdout]).toEqual([step === 'replace' ? 2 : 1, '']);
  expect(stderr).toMatch(/^.+\n$/);
  expect(stderr).not.toContain('secret');
});
