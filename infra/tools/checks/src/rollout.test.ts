import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const fixtures = join(import.meta.dirname, '../fixtures/migrations');

const check = (file: string): { status: number | null; rules: string[] } => {
  const args = [join(import.meta.dirname, 'rollout.ts'), join(fixtures, file)];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const rules = [...stderr.matchAll(/: (?:warning: )?([a-z]+(?:-[a-z]+)+)[: ]/g)].map(
    ([, rule = '']) => rule,
  );
  return { status, rules: [...new Set(rules)].toSorted() };
};

test('a migration that the running version does not notice passes', () => {
  expect(check('expand.sql')).toEqual({ status: 0, rules: [] });
});

test('a migration that removes or changes what the running version uses is rejected', () => {
  expect(check('breaking.sql')).toEqual({
    status: 1,
    rules: [
      'adding-not-nullable-field',
      'adding-required-field',
      'ban-drop-column',
      'ban-drop-object',
      'ban-drop-table',
      'changing-column-type',
      'constraint-missing-not-valid',
      'renaming-column',
      'renaming-table',
      'require-concurrent-index-creation',
    ],
  });
});

test('a step that an earlier release prepared passes when it says so', () => {
  expect(check('contract.sql')).toEqual({ status: 0, rules: [] });
});
