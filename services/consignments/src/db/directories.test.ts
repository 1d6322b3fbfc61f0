import type {} from '@platform/local/provided';
import { directoryPagesSql } from '@platform/pagination/directory/sql';
import { compareDeclared } from '@platform/pagination/directory/testing';
import { cloneDatabase } from '@platform/service-kit/testing';
import postgres from 'postgres';
import { expect, inject, test } from 'vitest';
import { migrations } from '../context.ts';
import { directories } from './directories.ts';

test('the newest migration of the directories is what their declarations say; vitest -u writes it', async () => {
  const statements = directories.map((one) => directoryPagesSql(one)).join('--> statement-breakpoint\n');
  await expect(statements).toMatchFileSnapshot('../../migrations/0004_directory_places.sql');
});

test('all migrations together make the directories that are declared', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  const sql = postgres(database.url, { max: 1, onnotice: () => undefined });
  for (const directory of directories) {
    const { migrated, declared } = await compareDeclared(sql, directory);
    expect(migrated).toEqual(declared);
  }
  await sql.end();
});
