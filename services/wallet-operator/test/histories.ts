import fc from 'fast-check';
import type { Command, Policy } from '../src/ledger/command.ts';

/** Few ids, so that commands meet: repeats, reversals before and after, rounds that are over, strangers. */
export const playerIds = ['ada', 'bob', 'cy', 'nobody'];
export const gameCodes = ['dice', 'off', 'never-seen'];
export const sessionIds = ['s-ada', 's-cards', 's-bob', 's-old', 's-none'];

const playerId = fc.constantFrom(...playerIds);
const transactionId = fc.integer({ min: 1, max: 14 }).map((n) => `t${n}`);
const roundId = fc.integer({ min: 1, max: 4 }).map((n) => `r${n}`);
const gameCode = fc.oneof(
  { weight: 6, arbitrary: fc.constant('dice') },
  { weight: 1, arbitrary: fc.constantFrom(...gameCodes) },
);
const amount = fc.oneof(
  fc.constantFrom(0, 1, 500, 1000),
  fc.integer({ min: 0, max: 3000 }),
  fc.constant(999_999_999_999_999),
);
const session = fc.option(fc.constantFrom(...sessionIds), { nil: undefined, freq: 3 });
const metadata = fc.constantFrom(undefined, undefined, 'NULL', '{"a":\n"\\b"},ü\u0001');
const common = { playerId, transactionId, roundId, gameCode, metadata };

const withSession = <T extends { session: string | undefined }>({ session, ...rest }: T) => ({
  ...rest,
  ...(session === undefined ? {} : { session }),
});

export const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .record({ operation: fc.constant('debit' as const), ...common, amount, session })
      .map(withSession),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      operation: fc.constant('credit' as const),
      ...common,
      amount,
      roundClosed: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      operation: fc.constant('rollback' as const),
      ...common,
      reverses: transactionId,
      roundClosed: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      operation: fc.constantFrom('deposit' as const, 'withdrawal' as const),
      playerId,
      transactionId,
      amount: fc.integer({ min: 1, max: 2000 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      operation: fc.constant('adjustment' as const),
      playerId,
      transactionId,
      amount: fc.integer({ min: -2000, max: 2000 }).filter((amount) => amount !== 0),
      metadata: fc.constant('{"reason":"goodwill"}'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ operation: fc.constant('balance' as const), playerId }) },
  {
    weight: 1,
    arbitrary: fc
      .record({
        operation: fc.constant('authenticate' as const),
        playerId,
        currency: fc.constantFrom('EUR', 'CNY', 'RMB'),
        gameCode,
        session,
      })
      .map(withSession),
  },
);

/** Commands with retries: some come again, exactly as they were, at any later place. */
const withRetries = (commands: fc.Arbitrary<Command>, maxCopies: number): fc.Arbitrary<Command[]> =>
  fc
    .array(fc.tuple(commands, fc.nat({ max: maxCopies }), fc.nat({ max: 40 })), {
      minLength: 1,
      maxLength: 40,
    })
    .map((parts) => {
      const all: { at: number; command: Command }[] = [];
      for (const [index, [one, copies, distance]] of parts.entries())
        for (let copy = 0; copy <= copies; copy++)
          all.push({ at: index + (copy * distance) / 3, command: one });
      return all.toSorted((a, b) => a.at - b.at).map((part) => part.command);
    });

/** Mostly what a game server sends all day: small bets and wins with new ids, now and then something else. */
const dailyCommand: fc.Arbitrary<Command> = fc
  .tuple(command, fc.nat({ max: 500 }), fc.nat({ max: 30 }), fc.nat({ max: 400 }), fc.nat({ max: 29 }))
  .map(([one, id, round, amount, kind]) =>
    kind > 0 && (one.operation === 'debit' || one.operation === 'credit')
      ? {
          ...one,
          playerId: 'ada',
          transactionId: `d${id}`,
          roundId: `d${round}`,
          gameCode: 'dice',
          amount,
          ...(one.operation === 'debit' && { session: 's-ada' }),
        }
      : one,
  );

export const history: fc.Arbitrary<Command[]> = fc.oneof(
  withRetries(command, 3),
  withRetries(dailyCommand, 1),
);

export const policy: fc.Arbitrary<Policy> = fc.record({
  rollbackAfterClose: fc.constantFrom('reverse', 'reject'),
  creditUnknownRound: fc.constantFrom('accept', 'reject'),
  sessions: fc.constantFrom('optional', 'required'),
  transactionIds: fc.constantFrom('global', 'player'),
  limitStatus: fc.constant('ERROR_NOT_ENOUGH_MONEY'),
  sessionBreakS: fc.constant(1800),
  sessionTtlS: fc.constant(3600),
  sessionMaxS: fc.constant(43_200),
});
