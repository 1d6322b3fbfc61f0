import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installSql } from '@platform/feed/sql';
import { subscriptionsSql } from '@platform/outgoing-webhooks/sql';
import { expect, test } from 'vitest';
import { migrations } from '../context.ts';
import { followedTables } from './followed.ts';

test('the first migration installs the change feed and subscriptions', async () => {
  const baseline = await readFile(join(migrations, '0000_quests.sql'), 'utf8');
  expect(baseline).toContain(installSql(followedTables));
  expect(baseline).toContain(subscriptionsSql);
});
