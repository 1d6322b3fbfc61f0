import { directorySql } from '@platform/pagination/directory/sql';
import { expect, test } from 'vitest';
import { projectDirectory } from './directory.ts';

test('the migration of the directory is what its declaration says; vitest -u writes it', async () => {
  await expect(directorySql(projectDirectory)).toMatchFileSnapshot(
    '../../migrations/0003_directory_pages.sql',
  );
});
