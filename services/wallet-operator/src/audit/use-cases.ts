import type { Page } from '@platform/pagination/page-limit';
import { slice, type Slice } from '@platform/pagination/slice';
import { openDatabase, type Executor } from '@platform/service-kit/db';
import { detached } from '@platform/service-kit/request-scope';
import type { Sql } from 'postgres';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { decimal } from '../money.ts';
import type { AuditEvent, Proof, Totals } from './schema.ts';
import { checkLedger } from './proof-store.ts';
import { insertEvent, listEvents } from './store.ts';
import { readTotals } from './totals-store.ts';

/** Statement timeout of the connection on which a proof runs. */
export const proofTimeoutMs = 120_000;

/** Checks the whole ledger now. */
export const proveLedger = async (sql: Sql, now: Date): Promise<z.input<typeof Proof>> => {
  const findings = await checkLedger(sql);
  return { ok: findings.violations.length === 0, checkedAt: now.toISOString(), ...findings };
};

/** Not on the pool, whose statements are cancelled after a few seconds. */
const proveOnOwnConnection = async ({ env, now }: Context): ReturnType<typeof proveLedger> => {
  await using database = openDatabase({
    url: env.DATABASE_URL,
    name: 'wallet-operator:proof',
    max: 1,
    statementTimeoutMs: proofTimeoutMs,
  });
  return await proveLedger(database.sql, now());
};

const running = new WeakMap<Context, ReturnType<typeof proveLedger>>();

/** Checks the ledger once for all requests that arrive during the check, and records the result in the metrics. */
export const proveOnce = (ctx: Context): ReturnType<typeof proveLedger> => {
  const known = running.get(ctx);
  if (known !== undefined) return known;
  const proof = detached(() => proveOnOwnConnection(ctx))
    .then((found) => {
      ctx.wallet.recordProof(found.ok, ctx.now());
      if (!found.ok)
        ctx.log.fatal({ violations: found.violations }, 'the proof of the ledger found violations');
      return found;
    })
    .finally(() => running.delete(ctx));
  running.set(ctx, proof);
  return proof;
};

/** Records an action of a person, in the transaction that performs it. */
export const recordEvent = (
  orm: Pick<Executor, 'insert'>,
  event: { kind: string; playerId: string | null; details: Record<string, unknown> },
): Promise<void> => insertEvent(orm, event);

export const pageEvents = async (
  { database }: Context,
  playerId: string | undefined,
  page: Page,
): Promise<Slice<z.input<typeof AuditEvent>>> => {
  const rows = await listEvents(database.orm, playerId, page);
  return slice(
    rows.map((row) => ({ ...row, at: row.at.toISOString() })),
    page.limit,
  );
};

/** Sums for each day (UTC, `from` to `to`) and currency. */
export const totalsOf = async (
  { database }: Context,
  from: string,
  to: string,
): Promise<z.input<typeof Totals>> => ({
  totals: (await readTotals(database.sql, from, to)).map(({ day, currency, entries, ...sums }) => ({
    day,
    currency,
    stakes: decimal(sums.stakes),
    wins: decimal(sums.wins),
    reversals: decimal(sums.reversals),
    grossRevenue: decimal(sums.grossRevenue),
    deposits: decimal(sums.deposits),
    withdrawals: decimal(sums.withdrawals),
    entries,
  })),
});
