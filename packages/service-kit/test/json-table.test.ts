import postgres from 'postgres';
import { expect, inject, onTestFinished, test } from 'vitest';
import { jsonTable } from '../src/records/json-table.ts';

const openTable = async () => {
  const sql = postgres(inject('postgresUrl'), { max: 1 });
  onTestFinished(() => sql.end());
  await sql`create temporary table parcels (
    sender text, id int, "weight_kg" int, sent_at timestamptz, primary key (sender, id))`;
  return { sql, parcels: jsonTable('parcels', ['id', 'weightKg', 'sentAt']) };
};

const key = { sender: 'ada', id: '1' };

test('a row is JSON with its fields in their order, and with times in UTC to the millisecond', async () => {
  const { sql, parcels } = await openTable();
  await sql`set time zone 'Asia/Tokyo'`;
  const sentAt = '2026-03-01T12:00:00+02:00';
  const json = await parcels.insert(sql, { ...key, weightKg: 3, sentAt });
  expect(json).toBe('{"id":1,"weightKg":3,"sentAt":"2026-03-01T10:00:00.000Z"}');
  expect(await parcels.find(sql, key, false)).toBe(json);
});

test('a change leaves columns that are undefined as they are, and clears those that are null', async () => {
  const { sql, parcels } = await openTable();
  await parcels.insert(sql, { ...key, weightKg: 3, sentAt: sql`now()` });
  const json = await parcels.update(sql, key, { weightKg: undefined, sentAt: null });
  expect(JSON.parse(json)).toEqual({ id: 1, weightKg: 3, sentAt: null });
});

test('a row is found, changed and deleted by its whole key', async () => {
  const { sql, parcels } = await openTable();
  await parcels.insert(sql, { ...key, weightKg: 3 });
  await parcels.insert(sql, { sender: 'eve', id: 1, weightKg: 4 });
  expect(JSON.parse(await parcels.update(sql, key, { weightKg: 5 }))).toMatchObject({ weightKg: 5 });
  await parcels.remove(sql, key);
  expect(await parcels.find(sql, key, false)).toBeUndefined();
  expect(await parcels.find(sql, { sender: 'eve', id: '1' }, true)).toContain('"weightKg":4');
});

test('rows are selected and ordered by the SQL after the table name', async () => {
  const { sql, parcels } = await openTable();
  for (const id of [3, 1, 2]) await parcels.insert(sql, { ...key, id, weightKg: id });
  const listed = await parcels.list(sql, sql`where weight_kg < ${3} order by id desc limit ${2}`);
  expect(listed.map((json) => (JSON.parse(json) as { id: number }).id)).toEqual([2, 1]);
});

test('rows that a page skips are not converted to JSON', async () => {
  const { sql } = await openTable();
  // PostgreSQL calls the cast of this type for each row that it converts to JSON.
  await sql`create type pg_temp.size as enum ('large')`;
  await sql`create temporary sequence made`;
  await sql`create function pg_temp.size_json(pg_temp.size) returns json volatile language sql as
    $$ select to_json(nextval('pg_temp.made')) $$`;
  await sql`create cast (pg_temp.size as json) with function pg_temp.size_json(pg_temp.size)`;
  await sql`create temporary table boxes as select n as id, 'large'::pg_temp.size as size from generate_series(1, 10) n`;
  const boxes = jsonTable('boxes', ['id', 'size']);
  expect(await boxes.list(sql, sql`order by id offset ${8} limit ${2}`)).toEqual([
    '{"id":9,"size":1}',
    '{"id":10,"size":2}',
  ]);
});

test('a field may have another name than its column', async () => {
  const { sql } = await openTable();
  const parcels = jsonTable('parcels', ['id', 'mass'], { mass: 'weight_kg' });
  expect(await parcels.insert(sql, { ...key, mass: 3 })).toBe('{"id":1,"mass":3}');
  expect(await parcels.update(sql, key, { mass: 4 })).toBe('{"id":1,"mass":4}');
});
