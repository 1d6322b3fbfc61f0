import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installSql as feedSql } from '@platform/feed/sql';
import { subscriptionsSql } from '@platform/outgoing-webhooks/sql';
import { installSql } from '@platform/pagination/directory';
import { expect, test } from 'vitest';
import { migrations } from '../context.ts';
import { projectDirectory } from './directory.ts';
import { followedTables } from './followed.ts';

test('the baseline migration installs the page directory that is declared', async () => {
  const baseline = await readFile(join(migrations, '0000_baseline.sql'), 'utf8');
  expect(baseline).toContain(installSql(projectDirectory));
});

test('the baseline migration installs the change feed and subscriptions', async () => {
  const baseline = await readFile(join(migrations, '0000_baseline.sql'), 'utf8');
  expect(baseline).toContain(feedSql(followedTables));
  expect(baseline).toContain(subscriptionsSql);
});
