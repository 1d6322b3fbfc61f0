import { cloneDatabase } from '@platform/service-kit/testing';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { migrations } from '../context.ts';
import { monthStart } from './queries.ts';

const stack = new AsyncDisposableStack();
let sql: Sql;
beforeAll(async () => {
  const database = stack.use(await cloneDatabase(inject('postgresUrl'), migrations));
  sql = postgres(database.url, { max: 1, onnotice: () => undefined });
  stack.defer(() => sql.end());
});
afterAll(() => stack.disposeAsync());

test('where midnight occurs twice, the month begins with the first one', async () => {
  const moments = ['2026-11-01T03:59:59.999Z', '2026-11-01T04:00Z', '2026-11-01T05:00Z', '2026-11-30T12:00Z'];
  const rows = await sql`
    select ${monthStart(sql, sql`'America/Havana'`, sql`moment`)} as start
    from unnest(${moments}::timestamptz[]) with ordinality as list (moment, position) order by position`;
  expect(rows.map(({ start }) => (start as Date).toISOString())).toEqual([
    '2026-10-01T04:00:00.000Z',
    '2026-11-01T04:00:00.000Z',
    '2026-11-01T04:00:00.000Z',
    '2026-11-01T04:00:00.000Z',
  ]);
});

test('in every zone of PostgreSQL and every month of 20 years, the month begins with its first instant', async () => {
  // Around the end of each month, in steps of 30 minutes: the first instant of the local month is found by looking.
  const wrong = await sql`
    with zone as (
      select name as zone from pg_timezone_names where name not like 'posix%' and name not like 'right%'
    ), month as (
      select begin from generate_series(timestamp '2020-01-01', timestamp '2040-01-01', interval '1 month') begin
    ), moment as materialized (
      select zone, begin, moment, date_trunc('month', moment at time zone zone) = begin as is_in
      from zone cross join month
        cross join generate_series(-3, 3) step
        cross join lateral (select begin at time zone zone + step * interval '30 minutes' as moment) around
    ), expected as (
      select zone, begin, min(moment) as first from moment where is_in group by zone, begin
    )
    select zone, moment, first, start
    from moment join expected using (zone, begin)
      cross join lateral (select ${monthStart(sql, sql`zone`, sql`moment`)} as start) computed
    where is_in and start <> first limit 10`;
  expect(wrong).toEqual([]);
});
