import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../../..');
const fixtures = join(import.meta.dirname, '../fixtures/lint');

interface Report {
  diagnostics: { code: string; filename: string }[];
}

let report: Report;

/** Runs oxlint with the repository's configuration, without the line that excludes the fixtures. */
beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'rules-'));
  const config = JSON.parse(readFileSync(join(root, '.oxlintrc.json'), 'utf8')) as Record<string, unknown>;
  writeFileSync(
    join(folder, 'rules.json'),
    JSON.stringify({ ...config, $schema: undefined, ignorePatterns: [] }),
  );
  const options = { cwd: fixtures, encoding: 'utf8' } as const;
  const { stdout } = spawnSync('oxlint', ['-c', join(folder, 'rules.json'), '-f', 'json', '.'], options);
  rmSync(folder, { recursive: true });
  report = JSON.parse(stdout) as Report;
});

test.each([
  ['src/tasks/domain.ts', 'eslint(no-restricted-imports)', 'a domain function imports queries'],
  ['src/tasks/queries.ts', 'eslint(no-restricted-imports)', 'queries import a use case'],
  ['src/tasks/use-cases.ts', 'eslint(no-restricted-imports)', 'a use case imports routes'],
  ['src/tasks/schema.ts', 'eslint(no-restricted-imports)', 'a schema imports queries'],
  ['src/tasks/routes.ts', 'eslint(no-restricted-imports)', 'routes import queries'],
  ['src/users/use-cases.ts', 'eslint(no-restricted-imports)', "a resource reads another resource's queries"],
  ['src/users/import.ts', 'eslint(no-restricted-imports)', "any other file reads another resource's queries"],
  ['src/cycle-a.ts', 'import(no-cycle)', 'two files import each other, even if only types'],
  ['src/floating.ts', 'typescript(no-floating-promises)', 'a promise is not awaited'],
  ['src/settings.ts', 'node(no-process-env)', 'the environment is read outside env.ts'],
  ['src/noise.ts', 'eslint(no-console)', 'a program prints without the log'],
  ['src/anything.ts', 'typescript(no-explicit-any)', 'a type is any'],
  ['src/default.ts', 'import(no-default-export)', 'an export is a default export'],
])('%s breaks %s: %s', (file, rule) => {
  const broken = report.diagnostics.filter(({ filename }) => filename.endsWith(file)).map(({ code }) => code);
  expect(broken).toContain(rule);
});

test('a PromiseLike without catch counts as floating, too', () => {
  const floating = report.diagnostics.filter(({ code }) => code === 'typescript(no-floating-promises)');
  expect(floating).toHaveLength(2);
});
