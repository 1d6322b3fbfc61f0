import type { ISql } from 'postgres';
import type { z } from 'zod';
import { firstRow, decimalOf, isoTime, firstValue } from '../../db/sql.ts';
import type { TransferPath } from '../transfers.ts';
import type { Adjustment, NewAdjustment } from './schema.ts';

type Key = z.output<typeof TransferPath>;

/** `isApproved`: the adjustment has an approval that has not expired. */
export type AdjustmentRow = z.output<typeof Adjustment> & { isApproved: boolean };

/** A requested adjustment; `amount` is in minor units. */
export type AdjustmentRequest = Key & Omit<z.output<typeof NewAdjustment>, 'amount'> & { amount: number };

/** Serialises all requests for adjustments, so that concurrent ones cannot exceed the limit together. */
export const lockAdjustments = (sql: ISql) => sql`select pg_advisory_xact_lock(4218336)`;

/** Does nothing when the id is already used, or the player does not exist. */
export const insertAdjustment = (
  sql: ISql,
  by: string,
  { playerId, transactionId, amount, reason, note }: AdjustmentRequest,
) => sql`
  insert into adjustments (player_id, transaction_id, amount, reason, note, requested_by)
  select player_id, ${transactionId}, ${amount}, ${reason}, ${note}, ${by}
  from players where player_id = ${playerId} on conflict do nothing`;

export const findAdjustment = (sql: ISql, { playerId, transactionId }: Key) =>
  firstRow(sql<AdjustmentRow[]>`
    select a.player_id as "playerId", a.transaction_id as "transactionId", ${decimalOf(sql, sql`a.amount`)} as amount,
      currency, reason, note,
      requested_by as "requestedBy", approved_by as "approvedBy", ${isoTime(sql, sql`approved_at`)} as "approvedAt",
      coalesce(approved_at > now() - interval '24 hours', false) as "isApproved",
      ${decimalOf(sql, sql`balance_after`)} as balance
    from adjustments a join players p on p.player_id = a.player_id
      left join entries e on e.transaction_id = a.transaction_id and e.id_space = 'operator'
        and e.player_id = a.player_id and e.operation = 'adjustment'
    where a.player_id = ${playerId} and a.transaction_id = ${transactionId}`);

/** Sum of the other adjustments in this currency that moved money, or may have, in the last 24 hours; in minor units. */
export const movedInLastDay = (sql: ISql, { playerId, transactionId, currency }: AdjustmentRow) =>
  firstValue(sql<[{ value: string }]>`
    select coalesce(sum(abs(amount)), 0)::text as value from adjustments join players using (player_id)
    where moved_at > clock_timestamp() - interval '24 hours' and currency = ${currency}
      and (player_id, transaction_id) <> (${playerId}, ${transactionId})`);

/** Marks the adjustment before it is sent to the ledger, so that it counts even if the process crashes. Returns the time. */
export const markMoving = (sql: ISql, { playerId, transactionId }: Key) =>
  firstValue(sql<[{ value: string }]>`
    update adjustments set moved_at = clock_timestamp()
    where player_id = ${playerId} and transaction_id = ${transactionId} returning moved_at::text as value`);

/**
 * Records the result of the attempt that was marked at `movedAt`. A refused attempt moved nothing, so its mark is removed,
 * unless a later attempt has replaced it. A booked attempt always sets the mark, even if another attempt was refused.
 */
export const markEnded = (
  sql: ISql,
  { playerId, transactionId }: Key,
  movedAt: string,
  isBooked: boolean,
) => sql`
  update adjustments set moved_at = ${isBooked ? movedAt : null}::timestamptz
  where player_id = ${playerId} and transaction_id = ${transactionId}
    and (${isBooked} or moved_at = ${movedAt}::timestamptz)`;

export const markApproved = (sql: ISql, { playerId, transactionId }: Key, by: string) => sql`
  update adjustments set approved_by = ${by}, approved_at = now()
  where player_id = ${playerId} and transaction_id = ${transactionId}`;
