import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installSql } from '@platform/pagination/directory';
import { expect, test } from 'vitest';
import { migrations } from '../context.ts';
import { directories } from './directories.ts';

test.for(directories)('the baseline migration installs the page directory of $name', async (directory) => {
  const baseline = await readFile(join(migrations, '0000_baseline.sql'), 'utf8');
  expect(baseline).toContain(installSql(directory));
});
