import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { and, asc, eq, gt, inArray, sql as raw } from 'drizzle-orm';
import { reconciliationDifferences as differences } from '../db/reconciliations.ts';
import { maxRepairs } from './schema.ts';

export type DifferenceRow = typeof differences.$inferSelect;

export interface KindCount {
  kind: DifferenceRow['kind'];
  differences: number;
  open: number;
}

/** How many differences of each kind there are, and how many of them were not repaired. */
export const countKinds = (orm: PostgresJsDatabase, id: string): Promise<KindCount[]> =>
  orm
    .select({
      kind: differences.kind,
      differences: raw<number>`count(*)::int`,
      open: raw<number>`(count(*) filter (where ${differences.state} <> 'applied'))::int`,
    })
    .from(differences)
    .where(eq(differences.reconciliationId, id))
    .groupBy(differences.kind)
    .orderBy(differences.kind);

/** Some of the differences; all conditions are optional. */
interface Selection {
  kind?: DifferenceRow['kind'] | undefined;
  /** A number: those with higher ones. */
  after?: number;
  numbers?: readonly number[];
  limit?: number;
  offset?: bigint;
}

/** In the order of their numbers. */
export const listDifferences = (
  orm: PostgresJsDatabase,
  id: string,
  { kind, after = 0, numbers, limit = maxRepairs, offset = 0n }: Selection,
): Promise<DifferenceRow[]> =>
  orm
    .select()
    .from(differences)
    .where(
      and(
        eq(differences.reconciliationId, id),
        gt(differences.number, after),
        kind && eq(differences.kind, kind),
        numbers && inArray(differences.number, [...numbers]),
      ),
    )
    .orderBy(asc(differences.number))
    .limit(limit)
    .offset(Number(offset));
