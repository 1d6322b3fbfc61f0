import { defineDirectory, installSql } from '../src/directory/index.ts';

/** Buckets so small that every history splits and merges them. */
const list = (table: string, descending: boolean) =>
  defineDirectory({
    table,
    key: ['changed_at', 'id'],
    descending,
    filters: { owner: 'uuid', kind: 'integer' },
    bucket: 3,
  });

export const risingDirectory = list('rising', false);
export const fallingDirectory = list('falling', true);
export const directories = [risingDirectory, fallingDirectory];

const tableSql = (name: string) => `create table ${name} (
  id uuid primary key, changed_at timestamptz(3) not null, owner uuid not null, kind integer, note text not null default '');
create index on ${name} (changed_at, id);
create index on ${name} (owner, changed_at, id);
create index on ${name} (kind, changed_at, id);`;

export const listsSql = directories
  .flatMap((directory) => [tableSql(directory.name), installSql(directory)])
  .join('\n--> statement-breakpoint\n');

export const owners = [1, 2, 3].map((digit) => `00000000-0000-4000-8000-00000000000${digit}`);
export const kinds = [0, 1, 2];
