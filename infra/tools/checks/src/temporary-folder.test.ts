import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../../..');

/** The places in source files that use the temporary folder. */
const usesOf = (files: readonly string[]): string[] =>
  files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, at) => (/\btmpdir\(|\bTMPDIR\b|['"`]\/tmp\b/.test(line) ? [`${file}:${at + 1}`] : [])),
  );

test('a use of the temporary folder is found', () => {
  const fixture = 'infra/tools/checks/fixtures/temporary-folder.ts';
  expect(usesOf([fixture])).toEqual([`${fixture}:3`]);
});

test('no service uses the temporary folder: the containers have a read-only file system', () => {
  const files = globSync('{services/*,packages/*,infra/gateway-telemetry}/src/**/*.ts', {
    cwd: root,
    exclude: ['**/*.test.ts', '**/testing/**', '**/node_modules/**'],
  });
  expect(files.length).toBeGreaterThan(200);
  expect(usesOf(files)).toEqual([]);
});
