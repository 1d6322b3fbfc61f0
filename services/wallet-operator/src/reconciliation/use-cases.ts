import type { Readable } from 'node:stream';
import type { Page } from '@platform/pagination/list';
import { Conflict, Problem, ValidationFailed } from '@platform/service-kit/problem';
import { orNotFound } from '@platform/service-kit/record-versions';
import { runOutsideRequest } from '@platform/service-kit/request-scope';
import type { z } from 'zod';
import { recordEvent } from '../reporting/audit/use-cases.ts';
import type { Context } from '../context.ts';
import type { StatedFields } from '../db/reconciliations.ts';
import { sideView, type Difference } from './difference.ts';
import { countKinds, listDifferences, type DifferenceRow } from './difference-queries.ts';
import { failRun } from './run-queries.ts';
import type { DifferenceFilter, Reconciliation, ReconciliationWithKinds, StatementQuery } from './schema.ts';
import { interrupted, storeLines } from './receiving.ts';
import { statementFields } from './statement-line.ts';
import type { StatementFormat } from './statement.ts';
import {
  beginComparing,
  findReconciliation,
  hasRoom,
  insertReconciliation,
  listReconciliations,
  maxOpen,
  maxSent,
  type ReconciliationRow,
} from './queries.ts';

const statusOf = {
  receiving: 'receiving',
  lines: 'comparing',
  entries: 'comparing',
  removing: 'done',
  ended: 'done',
} as const;

const viewOf = (row: ReconciliationRow): z.input<typeof Reconciliation> => {
  const { reconciliationId, createdBy, step, failure, lines, fields, lineDone, differences, toleranceS } =
    row;
  const compared = step === 'lines' ? Math.min(lineDone, lines) : lines;
  return {
    reconciliationId,
    createdAt: row.createdAt.toISOString(),
    createdBy,
    from: row.periodFrom.toISOString(),
    to: row.periodTo.toISOString(),
    tolerance: toleranceS,
    status: failure === null ? statusOf[step] : 'failed',
    failure,
    lines,
    comparedLines: step === 'receiving' ? 0 : compared,
    differences,
    fields: fields === null ? [] : statementFields.map((field) => ({ field, lines: fields[field] ?? 0 })),
  };
};

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
  query: z.output<typeof StatementQuery>,
  type: StatementFormat['type'],
  body: Readable,
): Promise<z.input<typeof Reconciliation>> => {
  const { from, to, tolerance, ...format } = query;
  if (new Date(to) > ctx.now()) throw new ValidationFailed({ to: ['must not be in the future'] });
  const { orm, sql } = ctx.database;
  const id = await orm.transaction(async (tx) => {
    if (!(await hasRoom(tx, by))) throw tooManyOpen();
    const period = { periodFrom: new Date(from), periodTo: new Date(to), toleranceS: tolerance };
    const { reconciliationId } = await insertReconciliation(tx, { createdBy: by, ...period });
    const details = { by, reconciliationId, from, to };
    await recordEvent(tx, { kind: 'reconciliation_requested', playerId: null, details });
    return reconciliationId;
  });
  let fields: StatedFields;
  try {
    const period = { from, to, tolerance };
    const scope = ctx.env.TRANSACTION_ID_SCOPE;
    fields = await storeLines(sql, id, body, { format: { type, ...format }, period, scope });
  } catch (error) {
    const isInvalid =
      error instanceof Problem && [400, 413].includes(error.status) && error.code !== 'request_aborted';
    // Also when the client has closed the connection. Should this fail, it counts as interrupted after a while.
    await runOutsideRequest(() => failRun(sql, id, isInvalid ? 'invalid_statement' : 'interrupted')).catch(
      () => undefined,
    );
    ctx.comparing.wake();
    throw error;
  }
  const row = await beginComparing(orm, id, fields);
  if (row === undefined) throw interrupted();
  ctx.comparing.wake();
  return viewOf(row);
};

/**
 * Gives a reconciliation up: nothing more is repaired from it, and no repair waits for what it found. What was repaired
 * stays. Throws NotFound.
 */
export const withdrawReconciliation = async (ctx: Context, by: string, id: string): Promise<void> => {
  await reconciliationRow(ctx, id);
  await ctx.database.sql.begin(async (tx) => {
    if (!(await failRun(tx, id, 'withdrawn'))) return;
    const details = { by, reconciliationId: id };
    await recordEvent(tx, { kind: 'reconciliation_withdrawn', playerId: null, details });
  });
  ctx.comparing.wake();
};

/** Throws NotFound. */
export const reconciliationRow = async ({ database }: Context, id: string): Promise<ReconciliationRow> =>
  orNotFound(await findReconciliation(database.orm, id), 'reconciliation');

export const getReconciliation = async (
  ctx: Context,
  id: string,
): Promise<z.input<typeof ReconciliationWithKinds>> => {
  const row = await reconciliationRow(ctx, id);
  return { ...viewOf(row), kinds: await countKinds(ctx.database.orm, id) };
};

/** The newest first; one more than the page holds. */
export const reconciliationViews = async (
  { database }: Context,
  page: Page,
): Promise<z.input<typeof Reconciliation>[]> => (await listReconciliations(database.orm, page)).map(viewOf);

const differenceOf = (row: DifferenceRow): z.input<typeof Difference> => ({
  number: row.number,
  kind: row.kind,
  playerId: row.playerId,
  transactionId: row.transactionId,
  there: sideView(row.there),
  here: sideView(row.here),
  repair: row.repair,
  state: row.state,
  status: row.status,
  reason: row.reason,
  repairedAt: row.repairedAt?.toISOString() ?? null,
  repairedBy: row.repairedBy,
});

/** By number, one more than the page holds. Throws NotFound. */
export const differenceViews = async (
  ctx: Context,
  id: string,
  { kind }: z.output<typeof DifferenceFilter>,
  { limit, offset }: Page,
): Promise<z.input<typeof Difference>[]> => {
  await reconciliationRow(ctx, id);
  const rows = await listDifferences(ctx.database.orm, id, { kind, limit: limit + 1, offset });
  return rows.map(differenceOf);
};

/** All differences, in portions that are read when they are taken. */
export async function* allDifferences(
  { database }: Context,
  id: string,
): AsyncGenerator<z.input<typeof Difference>[]> {
  const atOnce = 1000;
  let rows: DifferenceRow[];
  let after = 0;
  do {
    rows = await listDifferences(database.orm, id, { after, limit: atOnce });
    after = rows.at(-1)?.number ?? after;
    yield rows.map(differenceOf);
  } while (rows.length === atOnce);
}
