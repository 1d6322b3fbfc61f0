import type { Page } from '@platform/pagination/list';
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import { and, asc, eq, gt, inArray, sql as raw } from 'drizzle-orm';
import { reconciliationDifferences as differences } from '../db/reconciliations.ts';

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

/** In their order; one more than the page holds. */
export const listDifferences = (
  orm: PostgresJsDatabase,
  id: string,
  kind: DifferenceRow['kind'] | undefined,
  { limit, offset }: Page,
): Promise<DifferenceRow[]> =>
  orm
    .select()
    .from(differences)
    .where(
      and(eq(differences.reconciliationId, id), kind === undefined ? undefined : eq(differences.kind, kind)),
    )
    .orderBy(asc(differences.number))
    .limit(limit + 1)
    .offset(Number(offset));

/** Up to `limit` differences with higher numbers than `after`. */
export const differencesAfter = (
  orm: PostgresJsDatabase,
  id: string,
  after: number,
  limit: number,
): Promise<DifferenceRow[]> =>
  orm
    .select()
    .from(differences)
    .where(and(eq(differences.reconciliationId, id), gt(differences.number, after)))
    .orderBy(asc(differences.number))
    .limit(limit);

export const differencesByNumber = (
  orm: PostgresJsDatabase,
  id: string,
  numbers: readonly number[],
): Promise<DifferenceRow[]> =>
  orm
    .select()
    .from(differences)
    .where(and(eq(differences.reconciliationId, id), inArray(differences.number, [...numbers])));
