import { captureLog, cloneDatabase } from '@platform/service-kit/testing';
import fc from 'fast-check';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { emptyTables } from '../../../test/empty-tables.ts';
import { command } from '../../../test/histories.ts';
import { decimal } from '@platform/wallet-protocol/money';
import { expectSoundLedger } from '../../../test/proof.ts';
import { checkWholeLedger } from '../proof/proving.ts';
import { migrations } from '../../context.ts';
import { commitCommands } from '../../ledger/commit-commands.ts';
import { leftOver } from '../../ledger/state.ts';
import { commitMoves } from '../../ledger/ordinary-moves.ts';
import { isMove } from '../../ledger/command.ts';
import { plannerSettings } from '../../ledger/ledger.ts';
import { createSlowConnection } from '../../db/slow-connection.ts';
import { startClosing } from './closing.ts';
import {
  closeDays,
  firstOpenDay,
  listSums,
  newestFinishedDay,
  overdueSeconds,
  type SummaryFilter,
  type SummaryRow,
} from './queries.ts';

const currencies = { ada: 'EUR', bob: 'CNY', cy: 'EUR' };
const rules = {
  rollbackAfterClose: 'reverse',
  creditUnknownRound: 'accept',
  sessions: 'optional',
  transactionIds: 'global',
  limitStatus: 'ERROR_NOT_ENOUGH_MONEY',
  sessionBreakS: 1800,
  sessionTtlS: 3600,
  sessionMaxS: 43_200,
} as const;

const stack = new AsyncDisposableStack();
let sql: Sql;
let databaseUrl: string;
beforeAll(async () => {
  const database = stack.use(await cloneDatabase(inject('postgresUrl'), migrations));
  databaseUrl = database.url;
  sql = postgres(database.url, { max: 4, connection: plannerSettings, onnotice: () => undefined });
  stack.defer(() => sql.end());
  await sql`insert into games values ('dice', 'Dice', true, now()), ('off', 'Off', false, now())`;
});
afterAll(() => stack.disposeAsync());

const reset = () =>
  sql.begin(async (tx) => {
    await emptyTables(tx, 'entries', 'rounds', 'players', 'audit_events', 'daily_sums');
    for (const [id, currency] of Object.entries(currencies)) {
      await tx`insert into players (player_id, currency, balance, seq, created_at) values (${id}, ${currency}, 5000, 1, now())`;
      await tx`insert into entries (player_id, seq, operation, transaction_id, amount, balance_after, at, id_space)
        values (${id}, 1, 'deposit', ${`start-${id}`}, 5000, 5000, '2026-01-01', 'operator')`;
    }
  });

const dayMs = 86_400_000;
const january = Date.parse('2026-01-01T00:00:00Z');
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const lastDay = '2026-01-31';

/** Times within a day, its first and last millisecond among them. */
const time = fc.oneof(fc.constantFrom(0, dayMs - 1), fc.nat({ max: dayMs - 1 }));
const step = fc.record({
  command,
  /** Days since the step before. */
  days: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: 3 }) }),
  time,
  viaStatement: fc.boolean(),
  /** Whether the days before are closed now. */
  closes: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});

const read = async (by: SummaryFilter['by'], from = '2026-01-01', to = lastDay): Promise<SummaryRow[]> => {
  const open = await firstOpenDay(sql);
  return [...(await listSums(sql, open, { from, to, by }, { limit: 10_000, offset: 0n }))];
};

const fields = [
  'bets',
  'wins',
  'promotionalWins',
  'reversals',
  'deposits',
  'withdrawals',
  'adjustments',
] as const;
const fieldOf = {
  debit: 'bets',
  credit: 'wins',
  rollback: 'reversals',
  deposit: 'deposits',
  withdrawal: 'withdrawals',
  adjustment: 'adjustments',
} as const;
type Sums = Record<(typeof fields)[number] | 'closing' | 'entries', bigint>;
const none = (): Sums => ({
  bets: 0n,
  wins: 0n,
  promotionalWins: 0n,
  reversals: 0n,
  deposits: 0n,
  withdrawals: 0n,
  adjustments: 0n,
  closing: 0n,
  entries: 0n,
});

/** The sums of the ledger as one would add them up by hand: by account, then by day. */
const expected = async (
  accountOf: (currency: string, game: string) => string,
): Promise<Map<string, Sums>> => {
  const entries = await sql<
    {
      currency: string;
      game: string;
      operation: keyof typeof fieldOf | 'tombstone';
      amount: string;
      day: string;
      opens: boolean;
    }[]
  >`select currency, coalesce(e.game_code, '') as game, operation, amount, (at at time zone 'UTC')::date::text as day,
      not exists (select from entries o where o.player_id = e.player_id and o.round_id = e.round_id and o.seq < e.seq
        and o.operation in ('debit', 'credit'))
      and not exists (select from entries bet where bet.player_id = e.player_id and bet.round_id = e.round_id
        and bet.operation = 'debit' and date_trunc('day', bet.at, 'UTC') = date_trunc('day', e.at, 'UTC')) as opens
    from entries e join players using (player_id) order by at`;
  const sums = new Map<string, Sums>();
  for (let ms = january; dayOf(ms) <= lastDay; ms += dayMs) {
    const day = dayOf(ms);
    for (const { currency, game, operation, amount, day: ofDay, opens } of entries) {
      if (ofDay > day) continue;
      const key = `${day} ${accountOf(currency, game)}`;
      const sum = sums.get(key) ?? none();
      sums.set(key, sum);
      sum.closing += BigInt(amount);
      if (ofDay !== day || operation === 'tombstone') continue;
      sum.entries += 1n;
      const size = BigInt(amount) < 0n ? -BigInt(amount) : BigInt(amount);
      sum[fieldOf[operation]] += operation === 'adjustment' ? BigInt(amount) : size;
      if (operation === 'credit' && opens) sum.promotionalWins += size;
    }
  }
  for (const [key, sum] of sums) if (sum.closing === 0n && sum.entries === 0n) sums.delete(key);
  return sums;
};

const asMap = (rows: readonly SummaryRow[]) =>
  new Map(
    rows.map(({ day, currency, gameCode, opening: _o, grossRevenue: _g, complete: _c, ...sums }) => [
      `${day} ${currency} ${gameCode ?? ''}`,
      // Sums have two decimals.
      Object.fromEntries(
        Object.entries(sums).map(([name, value]) => [name, BigInt(String(value).replace('.', ''))]),
      ),
    ]),
  );

/** The closing of each account is its opening on the next day. */
const expectNoJumps = (rows: readonly SummaryRow[]): void => {
  const closings = new Map<string, { day: string; closing: string }>();
  for (const { day, currency, gameCode, opening, closing } of rows) {
    const account = `${currency} ${gameCode}`;
    const before = closings.get(account);
    const isDayBefore = before !== undefined && Date.parse(before.day) + dayMs === Date.parse(day);
    // Only a row with a closing of 0 may be missing on the next day.
    if (before !== undefined && !isDayBefore) expect(before.closing, account).toBe('0.00');
    expect(opening, `${day} ${account}`).toBe(isDayBefore ? before.closing : '0.00');
    closings.set(account, { day, closing });
  }
};

test('any history: each day begins as the one before ended, by game and currency, whichever days are kept', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
      await reset();
      let day = january;
      let moment = january;
      for (const { command, days, time, viaStatement, closes } of steps) {
        day = Math.min(day + days * dayMs, Date.parse(lastDay));
        // A later command is not earlier.
        moment = Math.max(moment, day + time);
        const now = new Date(moment);
        const [outcome] =
          viaStatement && isMove(command, rules) ? await commitMoves(sql, [command], now, rules) : [leftOver];
        if (outcome === leftOver) await commitCommands(sql, [command], now, rules);
        if (closes && dayOf(moment) > '2026-01-01') await closeDays(sql, dayOf(moment - dayMs));
      }
      for (const isKept of [false, true]) {
        if (isKept) await closeDays(sql, lastDay);
        const [byGame, byCurrency] = [await read('game'), await read('currency')];
        expect(asMap(byGame)).toEqual(await expected((currency, game) => `${currency} ${game}`));
        expect(asMap(byCurrency)).toEqual(await expected((currency) => `${currency} `));
        expectNoJumps(byGame);
        expectNoJumps(byCurrency);
        const balances = await sql<{ currency: string; sum: string }[]>`
          select currency, sum(balance) as sum from players group by currency having sum(balance) <> 0`;
        const closings = byCurrency.filter((row) => row.day === lastDay);
        expect(new Map(closings.map(({ currency, closing }) => [currency, closing]))).toEqual(
          new Map(balances.map(({ currency, sum }) => [currency, decimal(sum)])),
        );
        // Days that are asked for alone are as within all.
        expect(await read('game', '2026-01-03', '2026-01-05')).toEqual(
          byGame.filter((row) => row.day >= '2026-01-03' && row.day <= '2026-01-05'),
        );
      }
      await expectSoundLedger({ sql });
    }),
    { numRuns: 30 },
  );
});

test('the proof finds a sum that is not that of the entries', async () => {
  await reset();
  await closeDays(sql, '2026-01-02');
  await expectSoundLedger({ sql });
  await sql`update daily_sums set deposits = deposits + 1 where day = '2026-01-01' and currency = 'EUR'`;
  expect((await checkWholeLedger(sql)).violations).toEqual([
    { kind: 'daily_sum_differs', playerId: null, transactionId: null, detail: '2026-01-01 EUR' },
  ]);
});

test('processes that close the same days at once keep them once', async () => {
  await reset();
  await Promise.all(Array.from({ length: 4 }, () => closeDays(sql, '2026-01-03')));
  expect(await read('currency')).toHaveLength(2 * 31);
  expect(await sql`select from daily_sums`).toHaveLength(2 * 3);
});

test('a day that cannot be kept leaves those before it kept', async () => {
  await reset();
  await sql`alter table daily_sums add constraint only_two_days check (day <= '2026-01-02')`;
  await expect(closeDays(sql, '2026-01-03')).rejects.toThrow('only_two_days');
  await sql`alter table daily_sums drop constraint only_two_days`;
  expect(await sql`select distinct day::text from daily_sums order by day`).toEqual([
    { day: '2026-01-01' },
    { day: '2026-01-02' },
  ]);
});

test('entries of days that are not kept are found by the index of times, and no others are read', async () => {
  const plan = await sql.begin(async (tx) => {
    // The table of a test is so small that reading all of it would be cheaper.
    await tx`set local enable_bitmapscan = on`;
    const filter = { from: '2026-01-02', to: '2026-01-02', by: 'game' } as const;
    return tx`explain ${listSums(sql, '2026-01-02', filter, { limit: 50, offset: 0n })}`;
  });
  expect(JSON.stringify(plan)).toContain('Bitmap Index Scan on entries_at');
  expect(JSON.stringify(plan)).not.toContain('Seq Scan on entries');
});

test('the days that are over are kept without a request, up to yesterday', async () => {
  await reset();
  expect(await overdueSeconds(sql)).toBeGreaterThan(Date.now() / 1000 - january / 1000 - 86_400 - 60);
  const { log, lines } = captureLog();
  await using slow = createSlowConnection(databaseUrl);
  await using _ = startClosing(sql, { slow, everyMs: 10, log });
  const newest = async () =>
    (await sql<[{ day: string | null }]>`select max(day)::text as day from daily_sums`)[0].day;
  await expect.poll(newest).toBe(await newestFinishedDay(sql));
  // Days are finished ten minutes after midnight.
  expect(await overdueSeconds(sql)).toBeLessThan(660);
  await expectSoundLedger({ sql });
  expect(lines).toEqual([]);
});

test('no day is overdue in an empty ledger', async () => {
  await reset();
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`truncate entries`;
  });
  expect(await overdueSeconds(sql)).toBe(0);
});
