import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const service = join(import.meta.dirname, '../../../../services/quest-service');
const meta = 'migrations/meta';

interface Journal {
  entries: { idx: number; tag: string }[];
}

/** Copies the tables and migrations of a service. */
const copyService = () => {
  const folder = mkdtempSync(join(tmpdir(), 'migrations-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(join(service, 'migrations'), join(folder, 'migrations'), { recursive: true });
  mkdirSync(join(folder, 'src/db'), { recursive: true });
  writeFileSync(join(folder, 'src/db/tables.ts'), `export * from '${service}/src/db/tables.ts';\n`);
  const snapshotFile = (idx: number) => join(folder, meta, `${String(idx).padStart(4, '0')}_snapshot.json`);
  const journalFile = join(folder, meta, '_journal.json');
  const journal = JSON.parse(readFileSync(journalFile, 'utf8')) as Journal;
  return { folder, journal, journalFile, snapshotFile, last: journal.entries.length - 1 };
};

const check = (folder: string) =>
  spawnSync(process.execPath, [join(import.meta.dirname, 'migrations.ts')], {
    cwd: folder,
    encoding: 'utf8',
  });

test('tables that match the last migration pass', () => {
  expect(check(copyService().folder)).toMatchObject({ status: 0, stderr: '' });
});

test('a column that no migration creates fails the check', () => {
  const { folder, snapshotFile, last } = copyService();
  const snapshot = readFileSync(snapshotFile(last), 'utf8');
  writeFileSync(snapshotFile(last), snapshot.replaceAll('"title"', '"heading"'));
  const { status, stderr } = check(folder);
  expect(stderr).toContain('src/db/tables.ts has changed without a migration');
  expect(status).toBe(1);
});

test('a migration that names the schema public fails the check', () => {
  const { folder, journal } = copyService();
  writeFileSync(
    join(folder, `migrations/${journal.entries[0]?.tag}.sql`),
    'ALTER TABLE "a" ADD FOREIGN KEY ("b") REFERENCES "public"."b"("id");',
  );
  const { status, stderr } = check(folder);
  expect(stderr).toContain('names the schema public');
  expect(status).toBe(1);
});

test('two migrations that follow the same one fail the check', () => {
  const { folder, journal, journalFile, snapshotFile, last } = copyService();
  cpSync(snapshotFile(last), snapshotFile(last + 1));
  const entries = [...journal.entries, { idx: last + 1, tag: 'from_another_branch' }];
  writeFileSync(journalFile, JSON.stringify({ ...journal, entries }));
  const { status, stderr } = check(folder);
  expect(stderr).toContain('from_another_branch does not follow the migration before it');
  expect(status).toBe(1);
});

test('a later migration that breaks the running version fails the check', () => {
  const { folder } = copyService();
  cpSync(
    join(import.meta.dirname, '../fixtures/migrations/breaking.sql'),
    join(folder, 'migrations/0001_later.sql'),
  );
  const { status, stderr } = check(folder);
  expect(stderr).toContain('migrations/0001_later.sql: ban-drop-object');
  expect(status).toBe(1);
});
