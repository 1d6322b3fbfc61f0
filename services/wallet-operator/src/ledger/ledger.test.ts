import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import postgres, { type Sql } from 'postgres';
import { createBatcher } from '@platform/group-commit';
import { cloneDatabase } from '@platform/service-kit/testing';
import { inject, afterAll, beforeAll, expect, test } from 'vitest';
import { emptyTables } from '../../test/empty-tables.ts';
import { history, policy } from '../../test/histories.ts';
import { createModel, type ModelPlayer } from '../../test/model.ts';
import { expectSoundLedger } from '../../test/proof.ts';
import { migrations } from '../context.ts';
import { isMove, keysOf, type Command, type Policy } from './command.ts';
import { commitCommands } from './commit-commands.ts';
import { commitMoves } from './ordinary-moves.ts';
import { openLedger, plannerSettings } from './ledger.ts';
import { leftOver, type BatchOutcome, type Outcome } from './state.ts';

const now = new Date('2026-05-05T12:00:00Z');
const players = new Map<string, ModelPlayer>([
  ['ada', { balance: 5000n, currency: 'EUR', disabled: false, excluded: false }],
  ['bob', { balance: 0n, currency: 'CNY', disabled: true, excluded: false }],
  ['cy', { balance: 2n ** 63n - 1000n, currency: 'EUR', disabled: false, excluded: true }],
]);
const sessions = new Map([
  ['s-ada', { playerId: 'ada', gameCode: 'dice', expired: false }],
  ['s-cards', { playerId: 'ada', gameCode: 'cards', expired: false }],
  ['s-bob', { playerId: 'bob', gameCode: 'dice', expired: false }],
  ['s-old', { playerId: 'ada', gameCode: 'dice', expired: true }],
]);

const stack = new AsyncDisposableStack();
let sql: Sql;
let databaseUrl: string;
const rules: Omit<Policy, 'transactionIds'> = {
  rollbackAfterClose: 'reverse',
  creditUnknownRound: 'accept',
  sessions: 'optional',
  limitStatus: 'ERROR_NOT_ENOUGH_MONEY',
  sessionBreakS: 1800,
  sessionTtlS: 3600,
  sessionMaxS: 43_200,
};
/** Commands that the statement has written, without a decision. */
let byStatement = 0;
beforeAll(async () => {
  const database = stack.use(await cloneDatabase(inject('postgresUrl'), migrations));
  databaseUrl = database.url;
  sql = postgres(database.url, { max: 4, connection: plannerSettings, onnotice: () => undefined });
  stack.defer(() => sql.end());
  await sql`insert into games values ('dice', 'Dice', true, now()), ('off', 'Off', false, now())`;
  for (const [token, { playerId, gameCode, expired }] of sessions)
    await sql`insert into sessions values (${token}, ${playerId}, ${gameCode}, now(), ${expired ? '2026-05-05T12:00:00Z' : '2026-05-05T12:00:01Z'})`;
});
afterAll(() => stack.disposeAsync());

/** Empties the ledger before a new history; the triggers that forbid it are off. */
const reset = async (decidedAt: string | null = null): Promise<void> => {
  await sql.begin(async (tx) => {
    await emptyTables(tx, 'entries', 'rounds', 'players', 'audit_events', 'ledger_settings');
    for (const [id, { balance, currency, disabled, excluded }] of players) {
      const seq = balance > 0n ? 1 : 0;
      await tx`insert into players (player_id, currency, balance, seq, status, excluded_until, created_at, decided_at)
        values (${id}, ${currency}, ${String(balance)}, ${seq}, ${disabled ? 'disabled' : 'active'}, ${excluded ? '2026-05-05T12:00:01Z' : null}, now(), ${decidedAt})`;
      if (seq === 1)
        await tx`insert into entries (player_id, seq, operation, transaction_id, amount, balance_after, at, id_space)
          values (${id}, 1, 'deposit', ${`start-${id}`}, ${String(balance)}, ${String(balance)}, now(), 'operator')`;
    }
  });
};

/** Of the newest decisions: none, or from when the clock of the database ran ahead by two seconds, or by a year. */
const clocks = fc.constantFrom(null, '2026-05-05T12:00:02Z', '2027-05-05T12:00:00Z');

interface Step {
  command: Command;
  outcome: Outcome;
}

/** Adds the commands as many connections would. Returns them in the order in which they were decided. */
const playAtOnce = async (
  commands: readonly Command[],
  rules: Policy,
  viaStatement: boolean,
): Promise<Step[]> => {
  const steps: Step[] = [];
  const ledger = createBatcher<Command, Outcome>({
    keysOf: (command) => keysOf(command, rules.transactionIds),
    maxBatch: 7,
    maxQueue: 1000,
    maxInFlight: 1,
    isRolledBack: () => false,
    flush: async (batch) => {
      const outcomes = new Map<Command, Outcome>();
      const note = (batchOfOne: readonly Command[], results: readonly BatchOutcome[]) => {
        for (const [at, command] of batchOfOne.entries()) {
          const outcome = results[at];
          if (outcome === undefined || outcome === leftOver) continue;
          outcomes.set(command, outcome);
          steps.push({ command, outcome });
        }
      };
      const moves = viaStatement ? batch.filter((command) => isMove(command, rules)) : [];
      if (moves.length > 0) note(moves, await commitMoves(sql, moves, now, rules));
      byStatement += outcomes.size;
      const rest = batch.filter((command) => !outcomes.has(command));
      if (rest.length > 0) note(rest, await commitCommands(sql, rest, now, rules));
      return batch.map((command) => outcomes.get(command) as Outcome);
    },
  });
  await Promise.all(commands.map((command) => ledger.add(command)));
  return steps;
};

test('PostgreSQL decides whole batches exactly as the rules decide one command after the other', async () => {
  byStatement = 0;
  await fc.assert(
    fc.asyncProperty(history, policy, fc.boolean(), clocks, async (commands, rules, viaStatement, ahead) => {
      await reset(ahead);
      const steps = await playAtOnce(commands, rules, viaStatement);
      expect(steps).toHaveLength(commands.length);

      const model = createModel(players, new Set(['dice']), sessions, rules);
      for (const { command, outcome } of steps) {
        const { status, reason, balance } = model.apply(command);
        const decided = { status: outcome.status, reason: outcome.reason, balance: outcome.balance };
        expect(decided, JSON.stringify(command)).toEqual({ status, reason, balance: balance?.toString() });
      }

      const balances = await sql<
        { id: string; balance: string }[]
      >`select player_id as id, balance from players`;
      expect(new Map(balances.map(({ id, balance }) => [id, BigInt(balance)]))).toEqual(model.balances);
      const written = await sql`
        select player_id as "playerId", operation, transaction_id as "transactionId", round_id as "roundId",
          named_round_id as "namedRoundId", game_code as "gameCode", amount, balance_after as "balanceAfter", reverses, round_closed as "roundClosed",
          seq, id_space as "idSpace", metadata
        from entries where transaction_id not like 'start-%' order by player_id, seq`;
      const byPlayer = model.entries.toSorted((a, b) =>
        a.playerId < b.playerId ? -1 : a.playerId > b.playerId ? 1 : 0,
      );
      expect(written.map((row) => ({ ...row }))).toEqual(
        byPlayer.map((entry) => ({
          ...entry,
          metadata: entry.metadata ?? null,
          seq: String(entry.seq),
          amount: String(entry.amount),
          balanceAfter: String(entry.balanceAfter),
        })),
      );
      const times = await sql<{ at: string }[]>`
        select distinct at from entries where transaction_id not like 'start-%'`;
      const time = ahead === '2026-05-05T12:00:02Z' ? new Date(ahead) : now;
      for (const { at } of times) expect(new Date(at)).toEqual(time);
      const rounds = await sql<{ key: string; over: boolean }[]>`
        select player_id || E'\n' || round_id as key, closed_at is not null as over from rounds`;
      expect(new Map(rounds.map(({ key, over }) => [key, over ? 'closed' : 'open']))).toEqual(model.rounds);
      await expectSoundLedger({ sql });
    }),
    { numRuns: 150 },
  );
  // Both ways were taken.
  expect(byStatement).toBeGreaterThan(10);
});

test.each(['global', 'player'] as const)(
  'two processes on one database, ids unique by %s: no history breaks the ledger, and copies get one answer',
  async (transactionIds) => {
    const open = () =>
      openLedger({
        databaseUrl,
        policy: { ...rules, transactionIds },
        maxBatch: 7,
        maxQueue: 1000,
        maxInFlight: 2,
        maxWaitMs: 60_000,
        now: () => now,
      });
    await using one = open();
    await using other = open();
    const processes = [one, other];
    await fc.assert(
      fc.asyncProperty(history, async (commands) => {
        await reset();
        const answers = new Map<string, Set<string>>();
        await Promise.all(
          commands.map(async (command, index) => {
            const outcome = await processes[index % 2]?.add(command);
            if (!('transactionId' in command) || outcome?.status !== 'OK') return;
            const key = JSON.stringify(command);
            answers.set(key, (answers.get(key) ?? new Set()).add(outcome.balance ?? ''));
          }),
        );
        for (const [command, balances] of answers) expect(balances.size, command).toBe(1);
        await expectSoundLedger({ sql });
      }),
      { numRuns: 60 },
    );
  },
);

test.each(['entries', 'players'])(
  'a batch that meets the lock of the whole table %s is tried again until the lock is released',
  async (table) => {
    await reset();
    await using ledger = openLedger({
      databaseUrl,
      policy: { ...rules, transactionIds: 'global' },
      maxQueue: 10,
      maxInFlight: 2,
      maxWaitMs: 60_000,
      lockTimeoutMs: 5,
      now: () => now,
    });
    const debit: Command = {
      operation: 'debit',
      playerId: 'ada',
      transactionId: 'behind-a-lock',
      roundId: 'r',
      gameCode: 'dice',
      amount: 100,
    };
    const adding = await sql.begin(async (tx) => {
      await tx`lock table ${tx(table)}`;
      const outcome = ledger.add(debit);
      // Many times longer than the ledger waits for a lock.
      await Promise.race([outcome, sleep(1000)]);
      return { outcome };
    });
    expect(await adding.outcome).toMatchObject({ status: 'OK' });
  },
);

test('rows of the ledger and of the audit trail can not be changed', async () => {
  await reset();
  for (const table of ['entries', 'audit_events']) {
    await expect(sql`update ${sql(table)} set at = now()`).rejects.toMatchObject({ code: '23001' });
    await expect(sql`delete from ${sql(table)}`).rejects.toMatchObject({ code: '23001' });
    await expect(sql`truncate ${sql(table)}`).rejects.toMatchObject({ code: '23001' });
  }
  await expect(sql`update players set balance = -1`).rejects.toMatchObject({ code: '23514' });
});

test('a command that meets ids of another transaction four times is still decided', async () => {
  await reset();
  // A sequence counts what was rolled back, too.
  await sql.unsafe(`
    create sequence conflicts;
    create function conflict() returns trigger language plpgsql as $$
    begin
      if nextval('conflicts') <= 4 then raise exception using errcode = '23505'; end if;
      return new;
    end $$;
    create trigger conflict before insert on entries for each row execute function conflict()`);
  const limits = { maxQueue: 100, maxInFlight: 2, maxWaitMs: 10_000 };
  const settings = { ...rules, transactionIds: 'global' } as const;
  await using ledger = openLedger({ databaseUrl, policy: settings, now: () => now, ...limits });
  try {
    const money = { playerId: 'ada', gameCode: 'dice', roundId: 'r', transactionId: 't' };
    const outcome = await ledger.add({ operation: 'debit', ...money, amount: 100 });
    expect(outcome.status).toBe('OK');
  } finally {
    await sql`drop trigger conflict on entries`;
    await sql`drop function conflict`;
    await sql`drop sequence conflicts`;
  }
});
