import type { Readable } from 'node:stream';
import type { Page } from '@platform/pagination/list';
import { Conflict, Problem, ValidationFailed } from '@platform/service-kit/problem';
import { orNotFound } from '@platform/service-kit/record-versions';
import { runOutsideRequest } from '@platform/service-kit/request-scope';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { failRun } from './run-queries.ts';
import type { DifferenceFilter, StatementQuery } from './schema.ts';
import { interrupted, storeLines } from './receiving.ts';
import type { StatementFormat } from './statement.ts';
import {
  beginComparing,
  countKinds,
  findReconciliation,
  hasRoom,
  insertReconciliation,
  listDifferences,
  maxOpen,
  maxSent,
} from './queries.ts';

/** The reconciliations, or one page of them. */
export { listReconciliations } from './queries.ts';
import { recordEvent } from '../reporting/audit.ts';

const tooManyOpen = (): Conflict =>
  new Conflict(
    'too_many_reconciliations',
    `${maxOpen} statements are still compared, or ${maxSent} of yours are still being sent; try again later.`,
  );

/**
 * Receives a statement of a period; it is compared in the background. Throws ValidationFailed with the first mistakes
 * of the statement, and the errors of `storeLines`.
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
    if (!(await hasRoom(tx, by))) throw tooManyOpen();
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
    // Also when the client has closed the connection. Should this fail, it counts as interrupted after a while.
    await runOutsideRequest(() => failRun(sql, id, isInvalid ? 'invalid_statement' : 'interrupted')).catch(
      () => undefined,
    );
    throw error;
  } finally {
    ctx.comparing.wake();
  }
};

/**
 * Gives a reconciliation up: nothing more is repaired from it, and no repair waits for what it found. What was repaired
 * stays. Throws NotFound.
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

/** A reconciliation, and how many differences of each kind it found. Throws NotFound. */
export const getResult = async (ctx: Context, id: string) => ({
  ...(await getReconciliation(ctx, id)),
  kinds: await countKinds(ctx.database.sql, id),
});

/** By number, one more than the page holds. Throws NotFound. */
export const differencesOf = async (
  ctx: Context,
  id: string,
  { kind }: z.output<typeof DifferenceFilter>,
  page: Page,
) => {
  await getReconciliation(ctx, id);
  return listDifferences(ctx.database.sql, id, kind, page);
};
