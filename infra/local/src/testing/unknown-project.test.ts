import { join } from 'node:path';
import { expect, test } from 'vitest';
import { baseEnv } from '../env.ts';
import { run } from '../spawn.ts';

const script = join(import.meta.dirname, 'run.ts');

test('`test` refuses a project that does not exist, also beside one that does', async () => {
  const args = [script, '--project', 'quest-service', '--project', 'quest', 'no-such-file'];
  const { code, output } = await run(process.execPath, args, { env: baseEnv() });
  expect(code).toBe(2);
  expect(output).toMatch(/^There is no project quest, only .*openapi-tests, .*quest-service/);
});
