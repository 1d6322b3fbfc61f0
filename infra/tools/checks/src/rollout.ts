import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Drops objects that the running version may use by name. */
const DROP = /^drop\s+(function|procedure|view|materialized view|trigger|type|sequence|schema)\b/i;

const UNUSED = /^-- unused-since \S/;

// drizzle runs the migrations in one transaction, and migrate.ts sets lock_timeout; the other rules are about style.
const EXCLUDED = [
  'require-lock-timeout',
  'require-statement-timeout',
  'prefer-bigint-over-int',
  'adding-serial-primary-key-field',
];
const squawk = join(import.meta.dirname, '../node_modules/.bin/squawk');

/** Splits SQL into statements. A comment `unused-since` stays before its statement; other comments are removed. */
const statementsOf = (sql: string): string[] =>
  sql
    .replaceAll('--> statement-breakpoint', ';')
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('--') || UNUSED.test(line))
    .join('\n')
    .split(';')
    .map((statement) => statement.trim());

const findDrops = (file: string): string[] =>
  statementsOf(readFileSync(file, 'utf8')).flatMap((statement) => {
    const [, objectType] = DROP.exec(statement) ?? [];
    if (objectType === undefined) return [];
    const advice = 'when no release does, write "-- unused-since VERSION" above it';
    return [`${file}: ban-drop-object: the running version may still use the ${objectType}; ${advice}`];
  });

/**
 * Finds statements that break the version of the service that runs while migrations are applied: squawk finds unsafe
 * changes of tables and long locks, `findDrops` removed functions, views and types. Do not pass a service's first
 * migration, which creates everything. When an earlier release has stopped using an object, a comment above the statement
 * allows it: `-- squawk-ignore ban-drop-column`, or `-- unused-since 1.4.0` for DROP.
 */
export const rolloutFaults = (files: readonly string[]): string[] => {
  if (files.length === 0) return [];
  const options = [
    '--pg-version=18',
    '--assume-in-transaction',
    '--reporter=gcc',
    `--exclude=${EXCLUDED.join()}`,
  ];
  const { stdout, stderr, status, error } = spawnSync(squawk, [...options, ...files], { encoding: 'utf8' });
  if (error) throw error;
  return [...files.flatMap(findDrops), ...(status === 0 ? [] : [stdout + stderr])];
};
