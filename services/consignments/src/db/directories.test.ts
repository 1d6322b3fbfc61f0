import { directorySql } from '@platform/pagination/directory/sql';
import { expect, test } from 'vitest';
import { directories } from './directories.ts';

test('the migration of the directories is what their declarations say; vitest -u writes it', async () => {
  const statements = directories.map((one) => directorySql(one)).join('--> statement-breakpoint\n');
  await expect(statements).toMatchFileSnapshot('../../migrations/0003_directory_pages.sql');
});
