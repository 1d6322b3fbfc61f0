import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { conformanceProgram } from './conformance-program.ts';
import { secret, startService } from './harness.ts';
import { expectSoundLedger } from './proof.ts';

const run = promisify(execFile);
const cwd = new URL('..', import.meta.url).pathname;

test('the demo data can be loaded again and again, and its command works when pasted', async () => {
  await using service = await startService();
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    PORT: '0',
    DATABASE_URL: service.databaseUrl,
    AUTH_JWKS: 'none',
    AUTH_ISSUER: 'test',
    AUTH_AUDIENCE: 'test',
    HMAC_SECRET: secret,
    GATEWAY_URL: service.url,
  };
  const first = await run(process.execPath, ['src/demo.ts'], { cwd, env });
  const second = await run(process.execPath, ['src/demo.ts'], { cwd, env });
  expect(second.stdout).toBe(first.stdout);
  const { demo, curls } = JSON.parse(first.stdout) as { demo: object; curls: { command: string }[] };
  expect(demo).toEqual({
    wallet: {
      hmacSecret: secret,
      players: [
        { playerId: 'demo-1', currency: 'EUR', balance: '1000.00' },
        { playerId: 'demo-2', currency: 'USD', balance: '1000.00' },
        { playerId: 'demo-3', currency: 'CNY', balance: '1000.00' },
      ],
      gameCode: 'dice-alpha',
    },
  });
  const pasted = await run('sh', ['-c', curls[0]?.command ?? '']);
  expect(JSON.parse(pasted.stdout)).toEqual({ requestId: 'demo', status: 'OK', balance: '1000.00' });
  const signed = await run(
    process.execPath,
    [conformanceProgram, 'sign', 'balance', `{"playerId":"demo-2","x":"it's"}`],
    {
      cwd,
      env: { ...env, OPERATOR_URL: service.url },
    },
  );
  const answered = await run('sh', ['-c', signed.stdout]);
  expect(answered.stdout).toMatch(/\n$/);
  expect(JSON.parse(answered.stdout)).toMatchObject({ status: 'OK', balance: '1000.00' });
  // As container platforms mount it.
  const file = join(await mkdtemp(join(tmpdir(), 'wallet-')), 'url');
  await writeFile(file, `${env.DATABASE_URL}\n`);
  const { DATABASE_URL: _, ...others } = env;
  const audit = await run(process.execPath, ['src/proof.ts'], {
    cwd,
    env: { ...others, DATABASE_URL_FILE: file },
  });
  await rm(dirname(file), { recursive: true });
  expect(JSON.parse(audit.stdout)).toMatchObject({ ok: true, players: 3, entries: 3 });
  await expectSoundLedger(service);
});
