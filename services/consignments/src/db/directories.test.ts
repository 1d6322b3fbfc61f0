import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installSql as feedSql } from '@platform/feed/sql';
import { subscriptionsSql } from '@platform/outgoing-webhooks/sql';
import { installSql } from '@platform/pagination/directory';
import { expect, test } from 'vitest';
import { migrations } from '../context.ts';
import { directories } from './directories.ts';
import { followedTables } from './followed.ts';

test.for(directories)('the baseline migration installs the page directory of $name', async (directory) => {
  const baseline = await readFile(join(migrations, '0000_baseline.sql'), 'utf8');
  expect(baseline).toContain(installSql(directory));
});

test('the baseline migration installs the change feed and subscriptions', async () => {
  const baseline = await readFile(join(migrations, '0000_baseline.sql'), 'utf8');
  expect(baseline).toContain(feedSql(followedTables));
  expect(baseline).toContain(subscriptionsSql);
});
