import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rolloutFaults } from './rollout.ts';

/** The rules that a migration of the fixtures breaks. */
const rulesBrokenBy = (file: string): string[] => {
  const faults = rolloutFaults([join(import.meta.dirname, '../fixtures/migrations', file)]).join('\n');
  const rules = [...faults.matchAll(/: (?:warning: )?([a-z]+(?:-[a-z]+)+)[: ]/g)].map(
    ([, rule = '']) => rule,
  );
  return [...new Set(rules)].toSorted();
};

test('a migration that does not affect the running version passes', () => {
  expect(rulesBrokenBy('expand.sql')).toEqual([]);
});

test('a migration that removes or changes what the running version uses is rejected', () => {
  expect(rulesBrokenBy('breaking.sql')).toEqual([
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
  ]);
});

test('a step that an earlier release prepared passes with a comment that says so', () => {
  expect(rulesBrokenBy('contract.sql')).toEqual([]);
});
