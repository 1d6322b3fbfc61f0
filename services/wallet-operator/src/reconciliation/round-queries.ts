import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { and, eq, inArray, isNull, ne, sql as raw } from 'drizzle-orm';
import { reconciliationDifferences as differences, reconciliations } from '../db/reconciliations.ts';
import { entries, players, rounds } from '../db/tables.ts';
import type { Credit, Debit, Rollback } from '../ledger/command.ts';
import type { DifferenceRow } from './difference-queries.ts';

type Repair = Debit | Credit | Rollback;

/** What is known about the rounds of repairs. */
export interface RoundFacts {
  /** Missing transactions of these rounds, in all reconciliations that did not fail. */
  missing: Pick<DifferenceRow, 'number' | 'playerId' | 'transactionId' | 'there'>[];
  /** The round that a repair changes: of a rollback that of its debit, which may be another than the one that it names. */
  roundOf(command: Repair): string;
  /** What a repair moves, in minor units. */
  amountOf(command: Repair): bigint;
  /** The player's currency; null for an unknown player. */
  currencyOf(command: Repair): string | null;
  /** Whether a credit would open its round, while its bet may be in an earlier statement that was not compared. */
  isBetUnknown(command: Repair): boolean;
}

/** The debits that stand here among those that rollbacks name. */
const debitsNamed = (orm: PostgresJsDatabase, rollbacks: readonly Rollback[]) =>
  orm
    .select({
      playerId: entries.playerId,
      transactionId: entries.transactionId,
      roundId: entries.roundId,
      amount: entries.amount,
    })
    .from(entries)
    .where(
      and(
        eq(entries.operation, 'debit'),
        inArray(
          entries.transactionId,
          rollbacks.map(({ reverses }) => reverses),
        ),
      ),
    );

/** The transactions of rounds that are missing here: they were neither applied nor received since. */
const missingInRounds = (
  orm: PostgresJsDatabase,
  playerIds: string[],
  roundIds: string[],
): Promise<RoundFacts['missing']> =>
  orm
    .select({
      number: differences.number,
      playerId: differences.playerId,
      transactionId: differences.transactionId,
      there: differences.there,
    })
    .from(differences)
    .innerJoin(reconciliations, eq(reconciliations.reconciliationId, differences.reconciliationId))
    .where(
      and(
        eq(differences.kind, 'missing_here'),
        ne(differences.state, 'applied'),
        isNull(reconciliations.failure),
        inArray(differences.playerId, playerIds),
        inArray(raw`${differences.there} ->> 'roundId'`, roundIds),
        raw`not exists (select from entries received where received.transaction_id = ${differences.transactionId}
          and received.player_id = ${differences.playerId} and received.id_space <> 'operator'
          and received.operation <> 'tombstone' offset 0)`,
      ),
    );

/**
 * Whether a statement of the time before the period of a reconciliation was compared, and none is still being compared:
 * a bet in it that is missing here is known.
 */
const isTimeBeforeCompared = async (orm: PostgresJsDatabase, id: string): Promise<boolean> => {
  const [row] = await orm.execute<{ compared: boolean }>(raw`
    select coalesce(bool_or(other.step in ('removing', 'ended') and other.period_to >= this.period_from), false)
      and not bool_or(other.step in ('receiving', 'lines')) as compared
    from reconciliations this join reconciliations other on other.period_from < this.period_from
    where this.reconciliation_id = ${id} and other.failure is null`);
  return row?.compared ?? false;
};

/** Reads what is known about the rounds that these repairs change. */
export const readRoundFacts = async (
  orm: PostgresJsDatabase,
  id: string,
  commands: readonly Repair[],
): Promise<RoundFacts> => {
  const debits = await debitsNamed(
    orm,
    commands.filter((command) => command.operation === 'rollback'),
  );
  const debitOf = (command: Repair) =>
    command.operation === 'rollback'
      ? debits.find(
          ({ playerId, transactionId }) =>
            playerId === command.playerId && transactionId === command.reverses,
        )
      : undefined;
  const roundOf = (command: Repair): string => debitOf(command)?.roundId ?? command.roundId;
  const playerIds = commands.map(({ playerId }) => playerId);
  const missing = await missingInRounds(orm, playerIds, commands.map(roundOf));
  const wallets = await orm
    .select({ playerId: players.playerId, currency: players.currency })
    .from(players)
    .where(inArray(players.playerId, playerIds));
  const currencies = new Map(wallets.map(({ playerId, currency }) => [playerId, currency]));
  const keyOf = ({ playerId, roundId }: { playerId: string; roundId: string }) => `${playerId}\n${roundId}`;
  const opened = await orm
    .select({ playerId: rounds.playerId, roundId: rounds.roundId })
    .from(rounds)
    .where(
      and(
        inArray(rounds.playerId, playerIds),
        inArray(
          rounds.roundId,
          commands.map(({ roundId }) => roundId),
        ),
      ),
    );
  const known = new Set(opened.map(keyOf));
  const isCompared = await isTimeBeforeCompared(orm, id);
  return {
    missing,
    roundOf,
    amountOf: (command) =>
      command.operation === 'rollback' ? -(debitOf(command)?.amount ?? 0n) : BigInt(command.amount),
    currencyOf: ({ playerId }) => currencies.get(playerId) ?? null,
    isBetUnknown: (command) => command.operation === 'credit' && !known.has(keyOf(command)) && !isCompared,
  };
};
