/**
 * `node rollout.ts FILE…`: fails when a migration breaks the version of the service that runs while it is applied: squawk
 * finds unsafe changes of tables and long locks; DROP below finds removed functions, views and types. A service's first
 * migration is not given to it. A step that is safe because an earlier release stopped using something says so:
 * `-- squawk-ignore ban-drop-column` above the statement, for DROP `-- unused-since 1.4.0`.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A running version calls and reads these by name. */
const DROP = /^drop\s+(function|procedure|view|materialized view|trigger|type|sequence|schema)\b/i;

const UNUSED = /^-- unused-since \S/;

/** Each begins with its comment `unused-since`, if it has one; other comments are left out. */
const statementsOf = (sql: string): string[] =>
  sql
    .replaceAll('--> statement-breakpoint', ';')
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('--') || UNUSED.test(line))
    .join('\n')
    .split(';')
    .map((statement) => statement.trim());

const files = process.argv.slice(2);

for (const file of files) {
  for (const statement of statementsOf(readFileSync(file, 'utf8'))) {
    const [, what] = DROP.exec(statement) ?? [];
    if (what === undefined) continue;
    const advice = 'when no release does, write "-- unused-since VERSION" above it';
    process.stderr.write(
      `${file}: ban-drop-object: the running version may still use the ${what}; ${advice}\n`,
    );
    process.exitCode = 1;
  }
}

// drizzle runs the migrations in one transaction, and migrate.ts sets lock_timeout; the other rules are about style.
const EXCLUDED = [
  'require-lock-timeout',
  'require-statement-timeout',
  'prefer-bigint-over-int',
  'adding-serial-primary-key-field',
];
const squawk = join(import.meta.dirname, '../node_modules/.bin/squawk');
if (files.length > 0) {
  const options = [
    '--pg-version=18',
    '--assume-in-transaction',
    '--reporter=gcc',
    `--exclude=${EXCLUDED.join()}`,
  ];
  const { status, stdout, error } = spawnSync(squawk, [...options, ...files], { encoding: 'utf8' });
  if (error) throw error;
  process.stderr.write(stdout);
  if (status !== 0) process.exitCode = 1;
}
