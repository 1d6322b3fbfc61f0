import { randomUUID } from 'node:crypto';
import { openDatabase } from '@platform/service-kit/db';
import { jsonLines, type StatementLine } from '@platform/wallet-conformance/game-server/statement';
import postgres from 'postgres';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createComparer } from '../src/reconciliation/comparing.ts';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService, type Running } from './harness.ts';
import {
  ago,
  alone,
  apply,
  dryRun,
  getJson,
  lineOf,
  playStatement,
  reconcile,
  sendStatement,
  shortly,
  type Found,
} from './reconciliations.ts';

/** A service whose statements only the test compares. */
const startIdle = async (variables: Record<string, string> = {}) => {
  const service = await startService({ variables });
  await service.context.comparing[Symbol.asyncDispose]();
  return service;
};

const creditOf = (fields: Partial<StatementLine> = {}) =>
  ({
    transactionId: randomUUID(),
    playerId: 'p',
    operation: 'credit',
    amount: '1.00',
    ...fields,
  }) as StatementLine;

const idOf = ({ body }: { body: Record<string, unknown> }): string => String(body['reconciliationId']);
const find = (url: string, id: string) => getJson<Found>(url, `/v1/reconciliations/${id}`);

test('a slice of the period that takes too long is divided', async () => {
  await using service = await startIdle();
  const { sql } = service.context.database;
  await addGame(sql);
  const lines = await playStatement(service, [await addPlayer(sql)], 3);
  const now = Date.now();
  const period = { from: new Date(now - 600_000).toISOString(), to: new Date(now).toISOString() };
  const sent = await sendStatement(service.url, jsonLines(lines.slice(1)), period);
  // Instead of a time limit.
  await sql`
    create function refuse_long() returns trigger language plpgsql as $$ begin
      if new.entries_done - old.entries_done > interval '20 seconds' then raise 'too long'; end if;
      return new;
    end $$`;
  await sql`create trigger refuse_long before update on reconciliations for each row execute function refuse_long()`;
  const compare = createComparer(sql);
  const failures: string[] = [];
  const step = async () => {
    try {
      return await compare();
    } catch (error) {
      failures.push(String(error));
      return true;
    }
  };
  while (await step());
  expect(new Set(failures)).toEqual(new Set(['PostgresError: SQLSTATE P0001']));
  expect(await find(service.url, idOf(sent))).toMatchObject({ status: 'done', differences: 1 });
});

test('a reconciliation that always fails keeps no other waiting, is given up, and shows in the metrics', async () => {
  await using service = await startIdle();
  const failing = async () =>
    (await (await fetch(`${service.url}/metrics`)).text()).match(/^wallet_failing_reconciliations .+$/m)?.[0];
  const { sql } = service.context.database;
  const stuck = idOf(await sendStatement(service.url, jsonLines([creditOf()])));
  const other = idOf(await sendStatement(service.url, jsonLines([creditOf()])));
  await sql.unsafe(`alter table reconciliation_differences add check (reconciliation_id <> '${stuck}')`);
  const compare = createComparer(sql);
  const statusOf = async (id: string) => (await find(service.url, id)).status;
  await expect(compare()).rejects.toThrow('reconciliation_differences');
  while ((await statusOf(other)) !== 'done') await compare();
  expect(await statusOf(stuck)).toBe('comparing');
  await expect.poll(failing).toBe('wallet_failing_reconciliations 0');
  await sql`update reconciliations set touched_at = now() - interval '61 minutes' where reconciliation_id = ${stuck}`;
  await expect.poll(failing).toBe('wallet_failing_reconciliations 1');
  while ((await sql`select from reconciliations where step = 'removing'`).length > 0) await compare();
  for (let attempt = 2; attempt <= 10; attempt++)
    await expect(compare()).rejects.toThrow('reconciliation_differences');
  while (await compare());
  expect(await find(service.url, stuck)).toMatchObject({ status: 'failed', failure: 'internal' });
  await expect.poll(failing).toBe('wallet_failing_reconciliations 1');
  expect(await sql`select from reconciliation_lines`).toHaveLength(0);
});

test('a statement is refused while five others hold lines', async () => {
  await using service = await startIdle();
  const { sql } = service.context.database;
  for (let open = 0; open < 5; open++)
    expect(await sendStatement(service.url, jsonLines([creditOf()]))).toMatchObject({ status: 201 });
  expect(await sendStatement(service.url, jsonLines([creditOf()]))).toMatchObject({
    status: 409,
    body: { code: 'too_many_reconciliations' },
  });
  const compare = createComparer(sql);
  while (await compare());
  expect(await sendStatement(service.url, jsonLines([creditOf()]))).toMatchObject({ status: 201 });
});

test('a line is found by its id and its player when all players have the same ids', async () => {
  await using service = await startIdle({ TRANSACTION_ID_SCOPE: 'player' });
  const count = 3000;
  const lines = Array.from({ length: count }, (_, n) =>
    creditOf({ playerId: `p-${n}`, operation: 'debit', transactionId: 't-1', reverseTransactionId: 't-1' }),
  );
  const sent = await sendStatement(service.url, jsonLines(lines));
  // One connection, which knows what it has read.
  await using own = openDatabase({
    url: service.context.env.DATABASE_URL,
    name: 'test',
    max: 1,
    statementTimeoutMs: 600_000,
  });
  const compare = createComparer(own.sql);
  const read = async () => {
    await own.sql`select pg_stat_force_next_flush()`;
    const [row] = await own.sql<[{ rows: number }]>`
      select (idx_tup_fetch + seq_tup_read)::int as rows from pg_stat_user_tables
      where relname = 'reconciliation_lines'`;
    return row.rows;
  };
  const before = await read();
  while (await compare());
  expect((await read()) - before).toBeLessThan(count * 20);
  expect(await find(service.url, idOf(sent))).toMatchObject({ status: 'done', lines: count });
});

test('a statement of which a crash of PostgreSQL has taken lines back is refused', async () => {
  await using service = await startIdle();
  const { sql } = service.context.database;
  const some = () => Buffer.from(jsonLines(Array.from({ length: 1100 }, () => creditOf())));
  const stored = async (): Promise<number> =>
    (await sql<{ lines: number }[]>`select lines from reconciliations`)[0]?.lines ?? 0;
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(some()),
    pull: async (stream) => {
      await expect.poll(stored).toBe(1100);
      // A crash forgets the last transactions.
      await sql`truncate reconciliation_lines`;
      await sql`update reconciliations set lines = 0`;
      stream.enqueue(some());
      stream.close();
    },
  });
  const sent = await sendStatement(service.url, body);
  expect(sent).toMatchObject({ status: 409, body: { code: 'interrupted' } });
  const compare = createComparer(sql);
  while (await compare());
  expect(await sql`select step, failure, differences from reconciliations`).toEqual([
    { step: 'ended', failure: 'interrupted', differences: 0 },
  ]);
});

test('empty lines cost no transactions', async () => {
  await using service = await startIdle();
  const sent = await sendStatement(
    service.url,
    `${jsonLines([creditOf()])}${'\n'.repeat(200_000)}${jsonLines([creditOf()])}`,
  );
  const compare = createComparer(service.context.database.sql);
  let transactions = 0;
  // The slices of an hour are some ten.
  while (await compare()) transactions += 1;
  expect(transactions).toBeLessThan(20);
  expect(await find(service.url, idOf(sent))).toMatchObject({ status: 'done', lines: 2, differences: 2 });
});

/** Nodes of a plan that compare each row of one side with all rows of the other one. */
const joinFilters = (node: object): string[] =>
  Object.entries(node).flatMap(([name, value]) =>
    name === 'Join Filter'
      ? [String(value)]
      : typeof value === 'object' && value !== null
        ? joinFilters(value as object)
        : [],
  );

test('every look-up is by a key, also when the tables were analysed while they were empty', async () => {
  await using service = await startIdle();
  const { sql } = service.context.database;
  await sql`analyze`;
  const sent = await sendStatement(service.url, jsonLines([creditOf()]));
  const statements = new Map<string, unknown[]>();
  await using recording = openDatabase({ url: service.databaseUrl, name: 'test', max: 1 });
  const settings: string[] = [];
  const own = postgres(service.databaseUrl, {
    max: 1,
    debug: (_connection, text, values) => {
      if (text.includes('set_config')) settings.push(text);
      if (/reconciliation_(?:lines|differences)/.test(text)) statements.set(text, values);
    },
  });
  onTestFinished(() => own.end());
  const compare = createComparer(own);
  while (await compare());
  expect(await find(service.url, idOf(sent))).toMatchObject({ status: 'done' });
  expect(statements.size).toBeGreaterThan(4);
  for (const [text, values] of statements) {
    const [row] = await recording.sql.begin(async (tx) => {
      await tx.unsafe(settings[0] ?? '');
      return tx.unsafe<[{ 'QUERY PLAN': object }]>(`explain (format json) ${text}`, values as string[]);
    });
    const filters = joinFilters(row?.['QUERY PLAN'] ?? {});
    expect(filters.filter((filter) => /transaction_id|reverses/.test(filter))).toEqual([]);
  }
});

/** Bets of 1.00, 2.00, … whose lines say `amounts`, each with a losing credit; further lines are missing here. */
const statement = async (amounts: readonly string[], missing = 0) => {
  const service = await alone();
  const played = await linesOf(service.own, amounts);
  const { playerId = '' } = played[0] ?? {};
  const unknown = Array.from({ length: missing }, () => lineOf({ playerId, amount: '500' }));
  return { ...service, lines: [...played, ...unknown] };
};

/** Plays these bets with a new player, and returns their lines. */
const linesOf = async (own: Running, amounts: readonly string[], currency = 'EUR') => {
  const playerId = await addPlayer(own.context.database.sql, { currency });
  const caller = callerOf(own, playerId);
  const lines = amounts.flatMap((amount, at) => {
    const ids = { playerId, currency, roundId: `r-${at}` };
    return [
      lineOf({ ...ids, transactionId: `${currency}-bet-${at}`, amount }),
      lineOf({
        ...ids,
        transactionId: `${currency}-lost-${at}`,
        operation: 'credit',
        amount: '0',
        roundClosed: true,
      }),
    ];
  });
  for (const { transactionId, roundId, operation } of lines) {
    const amount = operation === 'debit' ? `${Number(roundId.slice(2)) + 1}.00` : '0';
    expect((await caller[operation]({ transactionId, roundId, amount })).status).toBe('OK');
  }
  return lines;
};

test.each([
  ['in cents', ['100', '200', '300']],
  ['in thousands, with one mistake', ['0.01', '0.02', '7', '0.04']],
  ['of which one amount can be compared, and is in cents', ['100']],
  ['of which one amount can be compared, and is a hundredth', ['0.01']],
])('a statement %s is refused as a whole', async (_, amounts) => {
  const { own, url, lines } = await statement(amounts, 5);
  await using _own = own;
  const { reconciliationId, status, failure } = await reconcile(url, lines);
  expect([status, failure]).toEqual(['failed', 'one_factor']);
  expect(reconciliationId).toBeDefined();
});

test('a statement in cents of one currency is refused, also when it has more lines of another one', async () => {
  const { own, url, lines } = await statement(['1', '2', '3', '4', '5']);
  await using _own = own;
  const dollars = await linesOf(own, ['100', '200'], 'USD');
  expect(await reconcile(url, [...lines, ...dollars])).toMatchObject({ failure: 'one_factor' });
});

test('one amount that differs by a hundred is a difference where others of its currency agree', async () => {
  const { own, url, lines } = await statement(['1', '200', '3']);
  await using _own = own;
  const dollars = await linesOf(own, ['1'], 'USD');
  expect(shortly(await reconcile(url, [...lines, ...dollars]))).toEqual(['amount EUR-bet-1']);
});

test('wins that are 0.00 on one side say nothing about the unit', async () => {
  const { own, url, lines } = await statement(['1', '2', '3']);
  await using _own = own;
  const won = lines.map((line) => (line.operation === 'credit' ? { ...line, amount: '7.00' } : line));
  const wins = won.filter(({ operation }) => operation === 'credit');
  const found = await reconcile(url, won.slice(0, 1).concat(wins));
  expect([found.status, found.failure]).toEqual(['done', null]);
});

test.each([
  ['one tripled amount alone', ['3'], ['amount EUR-bet-0']],
  ['one doubled amount among others', ['1', '4', '3'], ['amount EUR-bet-1']],
  [
    'several doubled amounts among more right ones',
    ['2', '4', '3', '4', '5'],
    ['amount EUR-bet-0', 'amount EUR-bet-1'],
  ],
  [
    'amounts that differ by other factors',
    ['2', '6', '12'],
    ['amount EUR-bet-0', 'amount EUR-bet-1', 'amount EUR-bet-2'],
  ],
])('%s are differences like others', async (_, amounts, expected) => {
  const { own, url, lines } = await statement(amounts);
  await using _own = own;
  expect(shortly(await reconcile(url, lines))).toEqual(expected);
});

/** A bet of 10.00 and a win of 5.00 of the first player, and their lines. */
const paidRound = async (scope: string) => {
  const service = await alone({ TRANSACTION_ID_SCOPE: scope });
  const [playerId = '', stranger = ''] = service.players;
  const caller = callerOf(service.own, playerId);
  await caller.debit({ transactionId: 'bet', roundId: 'r', amount: '10.00' });
  await caller.credit({ transactionId: 'win', roundId: 'r', amount: '5.00' });
  const lines = [
    lineOf({ playerId, transactionId: 'bet', roundId: 'r', amount: '10.00' }),
    lineOf({
      playerId,
      operation: 'credit',
      transactionId: 'win',
      roundId: 'r',
      amount: '5.00',
      roundClosed: true,
    }),
  ] as const;
  return { ...service, playerId, stranger, lines };
};

test.each(['global', 'player'])(
  'TRANSACTION_ID_SCOPE=%s: a paid win that the statement gives to another player is not paid again',
  async (scope) => {
    const { own, url, playerId, stranger, lines } = await paidRound(scope);
    await using _ = own;
    const [bet, win] = lines;
    for (const query of [{}, { from: ago(600) }]) {
      const { differences } = await reconcile(url, [bet, { ...win, playerId: stranger }], query);
      expect(differences).toMatchObject([
        {
          kind: 'player',
          transactionId: 'win',
          repair: 'ask_game_server',
          there: { playerId: stranger },
          here: { playerId },
        },
      ]);
    }
  },
);

test.each(['global', 'player'])(
  'TRANSACTION_ID_SCOPE=%s: a win paid before the period is not paid again to the player whom a line without a time names',
  async (scope) => {
    const { own, url, stranger, lines } = await paidRound(scope);
    await using _ = own;
    const { sql } = own.context.database;
    await sql`alter table entries disable trigger user`;
    await sql`update entries set at = at - interval '30 minutes'`;
    const period = { from: ago(600) };
    const found = await reconcile(url, [{ ...lines[1], playerId: stranger, time: '' }], period);
    expect(found.differences.filter(({ repair }) => repair === 'apply')).toEqual([]);
  },
);

test('TRANSACTION_ID_SCOPE=player: two players with one transaction id are two transactions', async () => {
  const { own, url, stranger, lines } = await paidRound('player');
  await using _ = own;
  const [bet, win] = lines;
  const missing = { ...win, playerId: stranger, roundId: 'of the stranger' };
  expect(await reconcile(url, [bet, win, missing])).toMatchObject({
    differences: [{ kind: 'missing_here', repair: 'apply', there: { playerId: stranger } }],
  });
  await callerOf(own, stranger).credit({ transactionId: 'win', roundId: 'of the stranger', amount: '5.00' });
  expect(shortly(await reconcile(url, [bet, win, missing]))).toEqual([]);
  // Each line that is left out is missing there, although another player has its id.
  expect(shortly(await reconcile(url, [bet, win]))).toEqual(['missing_there win']);
  expect(shortly(await reconcile(url, [bet, missing]))).toEqual(['missing_there win']);
});

const ofAnother = { state: 'open', status: null, reason: 'received_for_another_player' };

test('TRANSACTION_ID_SCOPE=player: a win is not paid to the player whom the statement names when it arrives for another one after the comparison', async () => {
  const { own, url, players } = await alone({ TRANSACTION_ID_SCOPE: 'player' });
  await using _ = own;
  const [playerId = '', stranger = ''] = players;
  const win = { transactionId: 'win', roundId: 'r', amount: '5.00' };
  const line = lineOf({ ...win, playerId: stranger, operation: 'credit', roundClosed: true });
  const bet = { transactionId: 'bet', roundId: 'r', amount: '1.00' };
  const { reconciliationId: id } = await reconcile(url, [
    lineOf({ ...bet, playerId: stranger, time: ago(5) }),
    line,
  ]);
  const { dryRunId, repairs } = await dryRun(url, id, [1, 2]);
  expect(repairs.map(({ status }) => status)).toEqual(['OK', 'OK']);
  // Another transaction of that id, which says nothing about the win.
  await callerOf(own, players[2] ?? '').debit({ transactionId: 'win', roundId: 'other' });
  // A late retry arrives while the repairs are made, after the ledger was asked what it would decide.
  const { ledger } = own.context;
  const add = ledger.add.bind(ledger);
  vi.spyOn(ledger, 'add').mockImplementationOnce(async (command) => {
    const outcome = await add(command);
    await callerOf(own, playerId).credit(win);
    return outcome;
  });
  expect((await apply(url, id, dryRunId)).repairs).toMatchObject([
    { state: 'applied' },
    { ...ofAnother, state: 'refused' },
  ]);
  expect((await dryRun(url, id, [2])).repairs).toMatchObject([{ ...ofAnother, state: 'refused' }]);
  const { sql } = own.context.database;
  expect(await sql`select player_id as id from entries where operation = 'credit'`).toEqual([
    { id: playerId },
  ]);
});

test('TRANSACTION_ID_SCOPE=player: a dry run is outdated when one of its transactions arrives for another player, unless the statement has both', async () => {
  const { own, url, players } = await alone({ TRANSACTION_ID_SCOPE: 'player' });
  await using _ = own;
  const [playerId = '', stranger = ''] = players;
  const bet = { transactionId: 'bet', roundId: 'r', amount: '1.00' };
  const named = lineOf({ ...bet, playerId: stranger });
  const { reconciliationId: id } = await reconcile(url, [named]);
  const { reconciliationId: both } = await reconcile(url, [named, lineOf({ ...bet, playerId })]);
  const { dryRunId } = await dryRun(url, id, [1]);
  await callerOf(own, playerId).debit(bet);
  expect(await apply(url, id, dryRunId)).toMatchObject({ status: 409, code: 'dry_run_outdated' });
  expect((await dryRun(url, id, [1])).repairs).toMatchObject([ofAnother]);
  expect((await dryRun(url, both, [1])).repairs).toMatchObject([{ status: 'OK' }]);
});
