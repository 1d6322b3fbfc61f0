import fc from 'fast-check';
import { cloneDatabase } from '@platform/service-kit/testing';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { emptyTables } from '../../test/empty-tables.ts';
import { createLimitsModel, monthStart } from '../../test/limits-model.ts';
import { expectSoundLedger } from '../../test/proof.ts';
import { migrations } from '../context.ts';
import { commitCommands } from '../ledger/commit-commands.ts';
import { commitMoves } from '../ledger/ordinary-moves.ts';
import { isMove, type Command, type Policy } from '../ledger/command.ts';
import { plannerSettings } from '../ledger/ledger.ts';
import { leftOver, type Outcome } from '../ledger/state.ts';
import { limitKinds, type Wanted } from './changes.ts';
import { changeLimits, lockPlayer } from './changes-queries.ts';
import { usedOf } from './domain.ts';
import { readLimits } from './counters.ts';

const sessionBreakS = 1800;
const policy: Policy = {
  rollbackAfterClose: 'reverse',
  creditUnknownRound: 'accept',
  sessions: 'optional',
  transactionIds: 'global',
  limitStatus: 'ERROR_NOT_ENOUGH_MONEY',
  sessionBreakS,
  sessionTtlS: 3600,
  sessionMaxS: 43_200,
};
const playerId = 'ada';
const [minute, hour] = [60_000, 3_600_000];

const stack = new AsyncDisposableStack();
let sql: Sql;
beforeAll(async () => {
  const database = stack.use(await cloneDatabase(inject('postgresUrl'), migrations));
  sql = postgres(database.url, { max: 4, connection: plannerSettings, onnotice: () => undefined });
  stack.defer(() => sql.end());
  await sql`insert into games values ('dice', 'Dice', true, now())`;
});
afterAll(() => stack.disposeAsync());

const reset = (timeZone: string) =>
  sql.begin(async (tx) => {
    await emptyTables(tx, 'entries', 'rounds', 'players', 'audit_events', 'limit_changes', 'limit_windows');
    await tx`insert into players (player_id, currency, balance, seq, created_at, time_zone)
      values (${playerId}, 'EUR', 100000000, 1, '2016-01-01', ${timeZone})`;
    await tx`insert into entries (player_id, seq, operation, transaction_id, amount, balance_after, at, id_space)
      values (${playerId}, 1, 'deposit', 'start', 100000000, 100000000, '2016-01-01', 'operator')`;
  });

interface Move {
  do: 'debit' | 'credit' | 'deposit';
  amount: number;
}
type Action =
  | Move
  /** Names one of the debits so far. */
  | { do: 'rollback' | 'retry'; which: number }
  | { do: 'set'; setBy: 'player' | 'operator'; wanted: Wanted[] };

const amount = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constantFrom(0, 1, 50));
const wanted = fc
  .uniqueArray(
    fc.record({
      limitKind: fc.constantFrom(...limitKinds),
      money: fc.integer({ min: 0, max: 300 }),
      minutes: fc.integer({ min: 1, max: 90 }),
    }),
    { maxLength: 4, selector: ({ limitKind }) => `${limitKind.kind} ${limitKind.period}` },
  )
  .map((list) =>
    list.map(({ limitKind, money, minutes }) => ({
      ...limitKind,
      value: BigInt(limitKind.kind === 'session' ? minutes : money),
    })),
  );
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('debit' as const), amount }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('credit' as const, 'deposit' as const), amount }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('rollback' as const, 'retry' as const), which: fc.nat() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('set' as const),
      setBy: fc.constantFrom('player', 'operator'),
      wanted,
    }),
  },
);
/** How long nothing happens before an action; 'month': until around the end of the month. */
const wait = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(0, 1, 1000, 20_000, minute - 1, minute) },
  { weight: 3, arbitrary: fc.constantFrom(10 * minute, 30 * minute, 31 * minute, 5 * hour) },
  { weight: 2, arbitrary: fc.constantFrom(24 * hour - 1, 24 * hour, 25 * hour, 100 * hour, 168 * hour) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('before the month ends' as const, 'until the month ends' as const),
  },
);
/** Just before clocks change, and before months end. In Asunción the clock once went forward when a month began. */
const place = fc.constantFrom(
  ['Europe/Berlin', '2026-10-24T21:59:30Z'],
  ['Europe/Berlin', '2026-03-28T20:00:00Z'],
  ['America/New_York', '2026-10-31T20:00:00Z'],
  ['America/Asuncion', '2017-09-30T01:00:00Z'],
  ['Asia/Kolkata', '2024-02-28T12:00:00Z'],
  ['Pacific/Kiritimati', '2026-12-30T12:00:00Z'],
  ['UTC', '2026-02-28T23:58:59Z'],
) as fc.Arbitrary<[string, string]>;

const nextMonth = (at: number, timeZone: string): number =>
  monthStart(monthStart(at, timeZone) + 35 * 24 * hour, timeZone);

const commandOf = (id: string, one: Move): Command => {
  const common = { playerId, transactionId: id, amount: one.amount };
  if (one.do === 'deposit') return { ...common, operation: 'deposit' };
  const round = { roundId: `r${id}`, gameCode: 'dice' };
  return one.do === 'debit'
    ? { ...common, ...round, operation: 'debit' }
    : { ...common, ...round, operation: 'credit', roundClosed: true };
};

test('limits are kept to the cent, as their definition says: over months, clock changes, retries and late rollbacks', async () => {
  const seen = { byStatement: 0, accepted: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(
      place,
      fc.array(fc.tuple(wait, fc.array(action, { minLength: 1, maxLength: 3 })), {
        minLength: 5,
        maxLength: 40,
      }),
      async ([timeZone, start], steps) => {
        await reset(timeZone);
        const model = createLimitsModel(timeZone, sessionBreakS * 1000);
        const sent: Command[] = [];
        let at = Date.parse(start);
        let number = 0;

        /** Sends commands as one batch, at first to the statement of ordinary moves. */
        const commit = async (batch: Command[]): Promise<Outcome[]> => {
          const now = new Date(at);
          const moves = batch.every((command) => isMove(command, policy)) ? batch : [];
          const written = moves.length > 0 ? await commitMoves(sql, moves, now, policy) : [];
          const outcomes = batch.map((_command, index) => written[index] ?? leftOver);
          const rest = batch.filter((_command, index) => outcomes[index] === leftOver);
          if (model.lowest(at).length > 0) seen.byStatement += batch.length - rest.length;
          const decided = rest.length > 0 ? await commitCommands(sql, rest, now, policy) : [];
          return outcomes.map((outcome) => (outcome === leftOver ? (decided.shift() as Outcome) : outcome));
        };

        const check = (command: Command, { status, reason }: Outcome): void => {
          const isAllowed = model.apply(command, at);
          const about = `${JSON.stringify(command)} at ${new Date(at).toISOString()}`;
          expect([status, reason === 'limit_reached'], about).toEqual(
            isAllowed ? ['OK', false] : ['ERROR_NOT_ENOUGH_MONEY', true],
          );
          seen[isAllowed ? 'accepted' : 'refused'] += 1;
        };

        const play = async (batch: Command[]): Promise<void> => {
          if (batch.length === 0) return;
          const outcomes = await commit(batch);
          for (const [index, command] of batch.entries()) check(command, outcomes[index] as Outcome);
        };

        const apply = async (actions: readonly Action[]): Promise<void> => {
          let batch: Command[] = [];
          for (const one of actions) {
            if (one.do === 'set') {
              await play(batch);
              batch = [];
              model.set(one.setBy, one.wanted, at);
              await sql.begin(async (tx) => {
                await lockPlayer(tx, playerId);
                const request = { playerId, setBy: one.setBy, by: 'test', now: new Date(at) };
                await changeLimits(tx, request, one.wanted, sessionBreakS);
              });
            } else if ('which' in one) {
              const debits = sent.filter(
                (command) =>
                  'transactionId' in command &&
                  model.moved.get(command.transactionId)?.operation === 'debit' &&
                  !batch.includes(command),
              );
              const target = debits[one.which % Math.max(1, debits.length)];
              if (target?.operation !== 'debit') continue;
              const isNamed = batch.some(
                (command) => 'reverses' in command && command.reverses === target.transactionId,
              );
              if (isNamed || batch.includes(target)) continue;
              const { roundId, gameCode, transactionId: reverses } = target;
              const reversal = { playerId, roundId, gameCode, reverses, roundClosed: false };
              batch.push(
                one.do === 'retry'
                  ? target
                  : { ...reversal, operation: 'rollback', transactionId: `x${number++}` },
              );
            } else {
              if (one.do === 'deposit' && one.amount === 0) continue;
              const command = commandOf(`t${number++}`, one);
              sent.push(command);
              batch.push(command);
            }
          }
          await play(batch);
        };

        for (const [pause, actions] of steps) {
          if (typeof pause === 'number') at += pause;
          else at = nextMonth(at, timeZone) - (pause === 'before the month ends' ? 1 : 0);
          await apply(actions);
          const found = (await readLimits(sql, [playerId], new Date(at), sessionBreakS)).get(playerId);
          const used = (found?.limits ?? []).map((limit) => {
            const { kind, period, value } = limit;
            return { kind, period, value, used: found && usedOf(found, limit) };
          });
          const expected = model
            .lowest(at)
            .map((limit) => ({ ...limit, used: model.used(limit.kind, limit.period, at) }));
          const byName = (a: { kind: string; period: string }, b: { kind: string; period: string }) =>
            `${a.kind} ${a.period}` < `${b.kind} ${b.period}` ? -1 : 1;
          expect(used.toSorted(byName), new Date(at).toISOString()).toEqual(expected.toSorted(byName));
        }
        await expectSoundLedger({ sql });
      },
    ),
    { numRuns: 60 },
  );
  // All three happen.
  for (const [name, times] of Object.entries(seen)) expect(times, name).toBeGreaterThan(0);
});
