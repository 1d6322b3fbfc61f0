import { spawnSync } from 'node:child_process';
import supertest from 'supertest';
import { expect, onTestFinished, test } from 'vitest';
import { at, bearerOf, register, startService } from '../../test/harness.ts';
import { parseSigningKeys } from './signing-keys.ts';

const program = new URL('../signing-keys.ts', import.meta.url).pathname;
const rotate = (step: string, value: string) =>
  spawnSync(process.execPath, [program, step], { input: value, encoding: 'utf8' });
const keyIds = (value: string) => parseSigningKeys(value).map(({ x }) => x);
const [minute, accessMinutes] = [60_000, 15];

/** The values of AUTH_SIGNING_KEY, one for each step. */
const valuesOf = (value: string): string[] => {
  const values = [value];
  for (const step of ['add', 'use', 'retire']) values.push(rotate(step, values.at(-1) ?? '').stdout);
  return values;
};

interface Holder {
  access: string;
  cookie: string;
  issued: number;
}

test('two replicas go through a rotation one after the other, and no request with a valid token is refused', async () => {
  await using service = await startService();
  const { databaseUrl, context } = service;
  let ahead = 0;
  const now = () => new Date(Date.now() + ahead);
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
    issued: ahead,
  });
  const holders: Holder[] = [];
  for (const [one = '', two = ''] of stages) {
    await using first = await start(one);
    await using second = await start(two);
    const apps = [first.app, second.app];
    for (const app of apps) {
      for (let n = 0; n < 2; n++) holders.push(holderOf((await register(app)).answer));
    }
    const check = async ({ access }: Holder) => {
      for (const app of apps) expect((await bearerOf(app, access)('get', '/auth/check')).status).toBe(200);
    };
    for (const [n, holder] of holders.entries()) {
      const valid = ahead - holder.issued < accessMinutes * minute;
      if (valid) await check(holder);
      // Every second session refreshes in each stage, at one replica and then, as after a lost answer, at the other.
      if (n % 2 === 1) continue;
      for (const app of n % 4 === 0 ? apps : apps.toReversed()) {
        const access = valid ? `; tasks_access=${holder.access}` : '';
        const answer = await supertest(app)
          .post(at('/auth/refresh'))
          .set('Cookie', holder.cookie + access);
        expect(answer.status).toBe(200);
        await check((holders[n] = holderOf(answer)));
      }
    }
    // As long as the guide says to wait before the last step; before the others any time is long enough.
    if (one === two && one === values[2]) ahead += (accessMinutes + 1) * minute;
    await context.database.sql`update sessions set rotated_at = rotated_at - interval '31 seconds'`;
  }
  expect(holders).toHaveLength(stages.length * 4);
});

test('a refresh token that was exchanged before a rotation still ends its session after it, until the key is retired', async () => {
  await using service = await startService();
  const [, , used = '', retired = ''] = valuesOf(service.variables['AUTH_SIGNING_KEY'] ?? '');
  for (const [AUTH_SIGNING_KEY, code] of [
    [used, 'refresh_token_reused'],
    [retired, 'invalid_refresh_token'],
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

test('the steps of a rotation add a key, let it sign, and remove the others', () => {
  const [first = '', added = '', used = '', retired = ''] = valuesOf(
    rotate('retire', rotate('add', '{"kty":"OKP","x":"old"}').stdout).stdout,
  );
  const [old, fresh] = keyIds(added);
  expect([first, used, retired].map(keyIds)).toEqual([[old], [fresh, old], [fresh]]);
  expect(fresh).not.toBe(old);
});

test.each([
  ['add', ''],
  ['use', 'secret'],
  ['use', '{"keys":[]}'],
  ['retire', 'null'],
  ['replace', '{"x":"secret"}'],
])('the step %s of %j is refused without repeating the input', (step, value) => {
  const { status, stdout, stderr } = rotate(step, value);
  expect([status, stdout]).toEqual([step === 'replace' ? 2 : 1, '']);
  expect(stderr).toMatch(/^.+\n$/);
  expect(stderr).not.toContain('secret');
});
