import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A running version calls and reads these by name. */
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

/** Each begins with its comment `unused-since`, if it has one; other comments are left out. */
const statementsOf = (sql: string): string[] =>
  sql
    .replaceAll('--> statement-breakpoint', ';')
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('--') || UNUSED.test(line))
    .join('\n')
    .split(';')
    .map((statement) => statement.trim());

const faultsOfDrops = (file: string): string[] =>
  statementsOf(readFileSync(file, 'utf8')).flatMap((statement) => {
    const [, object] = DROP.exec(statement) ?? [];
    if (object === undefined) return [];
    const advice = 'when no release does, write "-- unused-since VERSION" above it';
    return [`${file}: ban-drop-object: the running version may still use the ${object}; ${advice}`];
  });

/**
 * Says what in these migrations breaks the version of the service that runs while they are applied: squawk finds unsafe
 * changes of tables and long locks; DROP above finds removed functions, views and types. A service's first migration,
 * which creates everything, is not meant. A step that is safe because an earlier release stopped using something says so:
 * `-- squawk-ignore ban-drop-column` above the statement, for DROP `-- unused-since 1.4.0`.
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
  return [...files.flatMap(faultsOfDrops), ...(status === 0 ? [] : [stdout + stderr])];
};
