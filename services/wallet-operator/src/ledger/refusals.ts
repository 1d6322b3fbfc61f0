import { callbacks, type Callback } from '@platform/wallet-protocol/callbacks';
import { id } from '@platform/wallet-protocol/ids';
import type { ISql } from 'postgres';
import { refusals } from '../db/reporting.ts';
import { limitView } from '../limits/domain.ts';
import { jsonRows } from '../db/sql.ts';
import type { AnyCommand, Command, Reason } from './command.ts';
import type { Outcome } from './state.ts';

export type NewRefusal = Omit<typeof refusals.$inferInsert, 'refusalId'>;

/** The row of a refused callback; undefined for commands of people, which are in the audit trail. */
export const refusalOf = (
  command: Command,
  { status, balance, limit }: Outcome,
  cause: Reason,
): NewRefusal | undefined => {
  const callback = callbacks.find((name) => name === command.operation);
  if (callback === undefined) return undefined;
  const { playerId, roundId, transactionId }: AnyCommand = command;
  return {
    callback,
    playerId,
    roundId,
    transactionId,
    status,
    cause,
    amount: 'amount' in command ? BigInt(command.amount) : undefined,
    balance: balance === undefined ? undefined : BigInt(balance),
    limit: limit && limitView(limit),
    field: cause === 'reverses_itself' ? 'reverseTransactionId' : undefined,
  };
};

/** The row of a signed callback with a wrong syntax; contains those of its ids that are valid. */
export const syntaxRefusal = (callback: Callback, value: unknown, field: string | null): NewRefusal => {
  const ids = Object.fromEntries(
    (['playerId', 'roundId', 'transactionId'] as const).map((name) => [
      name,
      id.safeParse((value as Record<string, unknown> | null | undefined)?.[name]).data,
    ]),
  );
  return { callback, ...ids, status: 'ERROR_WRONG_SYNTAX', cause: 'wrong_syntax', field };
};

/**
 * The statement that inserts refusals; it can be a part of another statement. It inserts nothing when the partition of
 * tomorrow is missing, because `keep_refusal_days` has failed for days: decisions must not fail because of that.
 */
export const insertRefusals = (sql: ISql, rows: readonly NewRefusal[]) => sql`
  insert into refusals (callback, player_id, round_id, transaction_id, status, cause, amount, balance, "limit", field)
  select callback, player_id, round_id, transaction_id, status, cause, amount, balance, "limit", field
  from json_populate_recordset(null::refusals, ${jsonRows(refusals, rows)}::text::json)
  where to_regclass(to_char(now() at time zone 'UTC' + interval '1 day', '"refusals_"YYYYMMDD')) is not null`;
