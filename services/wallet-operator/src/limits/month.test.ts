import { cloneDatabase } from '@platform/service-kit/testing';
import fc from 'fast-check';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { migrations } from '../context.ts';
import { keptMonth, limitMonth, monthStart } from './month.ts';

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

const hour = 3_600_000;
const zones = ['Pacific/Kiritimati', 'Etc/GMT+12', 'America/Havana', 'Asia/Kathmandu', null];

/** Changes the time zone at some hours after 31 December 2026, 00:00 UTC; returns the starts of the months before and after. */
const startsOf = async (steps: readonly { hours: number; zone: string | null }[], first: string | null) => {
  const startAt = async (at: number) => {
    const moment = sql`${new Date(at).toISOString()}::timestamptz`;
    const [row] = await sql<[{ start: Date }]>`
      select ${limitMonth(sql, 'players', moment)} as start from players`;
    return row.start.getTime();
  };
  await sql`delete from players`;
  await sql`insert into players (player_id, currency, time_zone) values ('p', 'EUR', ${first})`;
  let at = Date.UTC(2026, 11, 31);
  const starts = [await startAt(at - 24 * hour)];
  for (const { hours, zone } of steps) {
    at += hours * hour;
    starts.push(await startAt(at));
    const moment = sql`${new Date(at).toISOString()}::timestamptz`;
    await sql`update players set time_zone = ${zone}, month_since = ${keptMonth(sql, moment)}`;
    starts.push(await startAt(at));
  }
  return starts;
};

test('from 27 hours with two changes of the time zone nobody gets the limits of three months', async () => {
  const starts = await startsOf(
    [
      { hours: 10, zone: 'Etc/GMT+12' },
      { hours: 26, zone: null },
    ],
    'Pacific/Kiritimati',
  );
  const newYear = Date.UTC(2026, 11, 31, 10);
  expect(Math.max(...starts)).toBe(newYear);
});

test('whatever the changes of the time zone, each month begins once', async () => {
  const step = fc.record({ hours: fc.integer({ min: 0, max: 30 }), zone: fc.constantFrom(...zones) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.constantFrom(...zones), async (steps, first) => {
      const starts = await startsOf(steps, first);
      // A start that is later than all before gives a new limit; months are at least 28 days apart.
      const limits = starts.filter((start, at) => at === 0 || start > Math.max(...starts.slice(0, at)));
      const lengths = limits.slice(1).map((start, at) => start - (limits[at] ?? 0));
      expect(lengths.filter((length) => length < 26 * 24 * hour)).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
