/**
 * `node rollout.ts FILE…`: fails when a migration breaks the version of the service that runs while it is applied: squawk
 * reports columns, tables, types and locks; the list below what squawk does not know. A service's first migration is not
 * given to it. A step that is safe because an earlier release stopped using something says so:
 * `-- squawk-ignore ban-drop-column` above the statement, for the list below `-- unused-since 1.4.0`.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A running version calls and reads these by name. */
const DROP = /^\s*drop\s+(function|procedure|view|materialized view|trigger|type|sequence|schema)\b/i;

const files = process.argv.slice(2);

for (const file of files) {
  const statements = readFileSync(file, 'utf8').split('--> statement-breakpoint');
  for (const statement of statements) {
    const [, what] = DROP.exec(statement.replaceAll(/^\s*--.*$/gm, '')) ?? [];
    if (what === undefined || /^-- unused-since \S/m.test(statement)) continue;
    process.stderr.write(`${file}: ban-drop-object: the running version may still use the ${what}\n`);
    process.exitCode = 1;
  }
}

// drizzle runs the migrations in one transaction, and migrate.ts sets lock_timeout; the others are matters of taste.
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
