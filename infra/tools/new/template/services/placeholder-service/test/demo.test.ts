import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { get, startService } from './harness.ts';

/** Runs the demo script as `start` does, and returns its output. */
const runDemo = async (databaseUrl: string) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['src/demo.ts'], {
    cwd: new URL('..', import.meta.url).pathname,
    env: {
      PORT: '0',
      DATABASE_URL: databaseUrl,
      AUTH_JWKS: 'none',
      AUTH_ISSUER: 'none',
      AUTH_AUDIENCE: 'none',
      GATEWAY_URL: 'http://127.0.0.1:8080',
      DEMO_ADMIN_TOKEN: 'abc.def.ghi',
    },
  });
  return JSON.parse(stdout) as { demo: object; curls: { title: string; command: string }[] };
};

test('the demo creates a spare part, and running it again changes nothing', async () => {
  await using service = await startService();
  const first = await runDemo(service.databaseUrl);
  const { sparePartId } = Object.values(first.demo)[0] as { sparePartId: string };
  const { body } = await get(service, '/spare-parts').expect(200);
  expect(body.spareParts).toEqual([expect.objectContaining({ sparePartId })]);
  expect(await runDemo(service.databaseUrl)).toEqual(first);
  expect((await get(service, '/spare-parts').expect(200)).body).toEqual(body);
  for (const { command } of first.curls) expect(command).toContain('http://127.0.0.1:8080/v1/spare-parts');
});
