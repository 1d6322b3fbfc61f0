import { setTimeout as sleep } from 'node:timers/promises';
import { Conflict } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';
import type { StatedFields } from '../db/reconciliations.ts';
import type { Policy } from '../ledger/command.ts';
import { currencyOf } from '../ledger/domain.ts';
import { idSpaceOf } from '../ledger/id-space.ts';
import { minorUnits } from '../money.ts';
import type { StatementField } from './schema.ts';
import { tooManyLines, type ReadLine } from './statement.ts';
import { insertLines, type LineRow } from './store.ts';

const maxLines = 5_000_000;
/** Lines that are stored together. With 1,000, the slowest callbacks took a fifth longer meanwhile. */
const linesAtOnce = 250;

const rowOf = ({ line, content }: ReadLine, scope: Policy['transactionIds']): LineRow => {
  const { playerId, operation, amount, currency, time } = content;
  return {
    line,
    transaction_id: content.transactionId,
    id_space: idSpaceOf({ operation, playerId }, scope),
    player_id: playerId,
    operation,
    amount: amount === undefined ? undefined : minorUnits(amount),
    currency: currency && currencyOf(currency),
    round_id: content.roundId,
    game_code: content.gameCode,
    round_closed: content.roundClosed,
    reverses: content.reverseTransactionId,
    at: time,
  };
};

/** The reconciliation counts as interrupted by now. */
export const interrupted = (): Conflict =>
  new Conflict('interrupted', 'Nothing was received for two minutes; send the statement again.');

/** How long each insertion is followed by a pause, against its own time: callbacks come first. */
const pausePerWork = 0.25;

/** Lines are stored at least this often, because a reconciliation without any for two minutes counts as interrupted. */
const storeEveryMs = 30_000;

/**
 * Stores the lines of a statement as they arrive; while some are stored, the next ones are read. Returns how many lines
 * state each field. Throws the errors of `lines`, Problem `too_many_lines`, and Conflict when the reconciliation counts as
 * interrupted.
 */
export const storeLines = async (
  { database, env, now }: Context,
  id: string,
  lines: AsyncIterable<ReadLine[]>,
): Promise<StatedFields> => {
  const stated: StatedFields = {};
  const rows: LineRow[] = [];
  let count = 0;
  let storedAt = now().getTime();
  let storing = Promise.resolve();
  const insert = async (some: LineRow[]): Promise<void> => {
    const start = performance.now();
    if (!(await insertLines(database.sql, id, some))) throw interrupted();
    storedAt = now().getTime();
    await sleep((performance.now() - start) * pausePerWork);
  };
  const store = async (): Promise<void> => {
    await storing;
    storing = insert(rows.splice(0, linesAtOnce));
    // Handled when it is awaited: by the next insertion, or at the end.
    storing.catch(() => undefined);
  };
  for await (const read of lines) {
    if ((count += read.length) > maxLines) throw tooManyLines(maxLines);
    for (const line of read) {
      rows.push(rowOf(line, env.TRANSACTION_ID_SCOPE));
      for (const field of Object.keys(line.content) as StatementField[])
        stated[field] = (stated[field] ?? 0) + 1;
    }
    while (rows.length >= linesAtOnce) await store();
    if (rows.length > 0 && now().getTime() - storedAt >= storeEveryMs) await store();
  }
  if (rows.length > 0) await store();
  await storing;
  return stated;
};
