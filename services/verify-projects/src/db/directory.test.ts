import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installSql } from '@platform/pagination/directory';
import { expect, test } from 'vitest';
import { migrations } from '../context.ts';
import { projectDirectory } from './directory.ts';

test('the baseline migration installs the page directory that is declared', async () => {
  const baseline = await readFile(join(migrations, '0000_baseline.sql'), 'utf8');
  expect(baseline).toContain(installSql(projectDirectory));
});
