import { integer, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type { Sql } from 'postgres';
import { directory, type Directory } from '../src/directory/declare.ts';
import { directorySql } from '../src/directory/sql.ts';

const consignments = pgTable('consignments', {
  id: uuid('id').primaryKey(),
  clientId: uuid('client_id').notNull(),
  warehouseId: uuid('warehouse_id').notNull(),
  carrierId: uuid('carrier_id').notNull(),
  status: integer('status').notNull(),
  reference: text('reference').notNull(),
  createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull(),
});

const projects = pgTable('projects', {
  id: uuid('id').primaryKey(),
  status: integer('status').notNull(),
  name: text('name').notNull(),
  updatedAt: timestamp('updated_at', { withTimezone: true, precision: 3 }).notNull(),
});

/** Newest first, four filters: 200 clients, 50 warehouses, 40 carriers, 8 statuses. */
export const consignmentsDirectory = directory({
  at: consignments.createdAt,
  id: consignments.id,
  newestFirst: true,
  filters: [consignments.clientId, consignments.warehouseId, consignments.carrierId, consignments.status],
  watched: [consignments.reference],
});

/** Oldest change first, one filter of 5 statuses; every change moves a row to the end. */
export const projectsDirectory = directory({
  at: projects.updatedAt,
  id: projects.id,
  filters: [projects.status],
});

const numbered = (prefix: string, number: string) =>
  `('00000000-0000-4000-${prefix}-' || lpad((${number})::text, 12, '0'))::uuid`;

/** Columns of one consignment, for the row numbered `i`. */
export const consignmentOf = `uuidv7(), ${numbered('8000', 'i * 7919 % 200')}, ${numbered('9000', 'i * 104729 % 50')},
  ${numbered('a000', 'i * 31 % 40')}, (i * 13 % 8)::int, 'reference ' || i`;

export const loadConsignments = async (sql: Sql, rows: number): Promise<void> => {
  await sql.unsafe(`create table consignments (id uuid primary key, client_id uuid not null, warehouse_id uuid not null,
    carrier_id uuid not null, status integer not null, reference text not null, created_at timestamptz(3) not null)`);
  await sql.unsafe(`insert into consignments select ${consignmentOf}, '2024-01-01'::timestamptz + i * interval '30 s'
    from generate_series(1::bigint, ${rows}) i`);
};

export const loadProjects = async (sql: Sql, rows: number): Promise<void> => {
  await sql.unsafe(`create table projects (id uuid primary key, status integer not null, name text not null,
    updated_at timestamptz(3) not null)`);
  await sql.unsafe(`insert into projects select uuidv7(), (i * 13 % 5)::int, 'project ' || i,
    '2024-01-01'::timestamptz + i * interval '30 s' from generate_series(1::bigint, ${rows}) i`);
};

export const install = async (sql: Sql, list: Directory): Promise<void> => {
  await sql.begin((transaction) => transaction.unsafe(directorySql(list)));
};
