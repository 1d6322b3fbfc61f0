import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../../..');
const fixtures = join(import.meta.dirname, '../fixtures/types');
const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', fixtures], { encoding: 'utf8' });

test.each([
  ['strict.ts', 'TS7006', 'strict'],
  ['index-access.ts', 'TS2322', 'noUncheckedIndexedAccess'],
  ['optional.ts', 'TS2375', 'exactOptionalPropertyTypes'],
  ['type-import.ts', 'TS1484', 'verbatimModuleSyntax'],
  ['erasable.ts', 'TS1294', 'erasableSyntaxOnly'],
  ['override.ts', 'TS4114', 'noImplicitOverride'],
  ['fallthrough.ts', 'TS7029', 'noFallthroughCasesInSwitch'],
])('%s fails with %s because of %s', (file, code) => {
  expect(stdout).toMatch(new RegExp(`src/${file.replace('.', '\\.')}\\(\\d+,\\d+\\): error ${code}`));
});
