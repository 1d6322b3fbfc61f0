import type { Readable } from 'node:stream';
import type { Page } from '@platform/pagination/list';
import { Conflict, Problem, ValidationFailed } from '@platform/service-kit/problem';
import { orNotFound } from '@platform/service-kit/record-versions';
import { runOutsideRequest } from '@platform/service-kit/request-scope';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { recordEvent } from '../reporting/audit.ts';
import { failRun } from './run-queries.ts';
import type { DifferenceFilter, StatementQuery } from './schema.ts';
import { interrupted, storeLines } from './receiving.ts';
import type { StatementFormat } from './statement.ts';
import {
  beginComparing,
  countKinds,
  findReconciliation,
  canReceive,
  insertReconciliation,
  listDifferences,
  maxOpen,
  maxReceiving,
} from './queries.ts';

export { listReconciliations } from './queries.ts';

/**
 * Receives the statement of a period; the comparison runs in the background. Throws ValidationFailed with the first mistakes
 * of the statement, Conflict `too_many_reconciliations`, and the errors of `storeLines`.
 */
export const receiveStatement = async (
  ctx: Context,
  by: string,
  { from, to, tolerance, ...format }: z.output<typeof StatementQuery>,
  type: StatementFormat['type'],
  body: Readable,
) => {
  if (new Date(to) > ctx.now()) throw new ValidationFailed({ to: ['must not be in the future'] });
  const { sql } = ctx.database;
  const period = { from, to, tolerance };
  const id = await sql.begin(async (tx) => {
    if (!(await canReceive(tx, by)))
      throw new Conflict(
        'too_many_reconciliations',
        `At most ${maxOpen} statements are compared at a time, and ${maxReceiving} received from one caller; try again later.`,
      );
    const reconciliationId = await insertReconciliation(tx, by, period);
    await recordEvent(tx, 'reconciliation_requested', { by, reconciliationId, from, to });
    return reconciliationId;
  });
  try {
    const reading = { format: { type, ...format }, period, scope: ctx.env.TRANSACTION_ID_SCOPE };
    const received = await beginComparing(sql, id, await storeLines(sql, id, body, reading));
    if (received === undefined) throw interrupted();
    return received;
  } catch (error) {
    const isInvalid =
      error instanceof Problem && [400, 413].includes(error.status) && error.code !== 'request_aborted';
    // Runs even if the client has closed the connection. If this fails, the comparer marks the reconciliation as interrupted later.
    await runOutsideRequest(() => failRun(sql, id, isInvalid ? 'invalid_statement' : 'interrupted')).catch(
      () => undefined,
    );
    throw error;
  } finally {
    ctx.comparing.wake();
  }
};

/**
 * Marks a reconciliation as failed: its differences cannot be repaired any more, and no other repair waits for them.
 * Finished repairs stay. Throws NotFound.
 */
export const withdrawReconciliation = async (ctx: Context, by: string, id: string): Promise<void> => {
  await getReconciliation(ctx, id);
  await ctx.database.sql.begin(async (tx) => {
    if (!(await failRun(tx, id, 'withdrawn'))) return;
    await recordEvent(tx, 'reconciliation_withdrawn', { by, reconciliationId: id });
  });
  ctx.comparing.wake();
};

/** Throws NotFound. */
export const getReconciliation = async ({ database }: Context, id: string) =>
  orNotFound(await findReconciliation(database.sql, id), 'reconciliation');

/** Reads a reconciliation with the number of its differences of each kind. Throws NotFound. */
export const getResult = async (ctx: Context, id: string) => ({
  ...(await getReconciliation(ctx, id)),
  kinds: await countKinds(ctx.database.sql, id),
});

/** Differences by number, one more than the page holds. Throws NotFound. */
export const differencesOf = async (
  ctx: Context,
  id: string,
  { kind }: z.output<typeof DifferenceFilter>,
  page: Page,
) => {
  await getReconciliation(ctx, id);
  return listDifferences(ctx.database.sql, id, kind, page);
};
