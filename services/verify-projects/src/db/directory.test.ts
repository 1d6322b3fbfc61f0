import type {} from '@platform/local/provided';
import { directoryPagesSql } from '@platform/pagination/directory/sql';
import { compareDeclared } from '@platform/pagination/directory/testing';
import { cloneDatabase } from '@platform/service-kit/testing';
import postgres from 'postgres';
import { expect, inject, test } from 'vitest';
import { migrations } from '../context.ts';
import { projectDirectory } from './directory.ts';

test('the newest migration of the directory is what its declaration says; vitest -u writes it', async () => {
  await expect(directoryPagesSql(projectDirectory)).toMatchFileSnapshot(
    '../../migrations/0004_directory_places.sql',
  );
});

test('all migrations together make the directory that is declared', async () => {
  await using database = await cloneDatabase(inject('postgresUrl'), migrations);
  const sql = postgres(database.url, { max: 1, onnotice: () => undefined });
  const { migrated, declared } = await compareDeclared(sql, projectDirectory);
  expect(migrated).toEqual(declared);
  await sql.end();
});
