import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const lint = (...files: string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, 'spectral.ts'), ...files], {
    cwd: join(import.meta.dirname, '..'),
    encoding: 'utf8',
  });

test('a warning of Spectral fails the check and names file, line and rule', () => {
  const { status, stderr } = lint('fixtures/openapi.json', '../../services/quest-service/openapi.json');
  expect(status).toBe(1);
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringMatching(/^fixtures\/openapi\.json:\d+ operation-description: .*\(paths\.\/notes\.get\)$/),
  ]);
});
