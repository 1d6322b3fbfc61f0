import type { ISql, Sql, TransactionSql } from 'postgres';
import { firstRow, isoTime, firstValue } from '../../db/sql.ts';
import type { Findings } from './proof.ts';
import { maxViolations, type Violation } from './queries.ts';

/** `foundAt`: when the violation was last found, as ISO 8601. */
type StoredViolation = Violation & { foundAt: string };

/** The stored state of the checks of all processes. */
export interface Checks {
  /** Whether no violation is known; null before the first proof. */
  ok: boolean | null;
  /** Seconds since the last proof; null before the first. */
  proofAge: number | null;
  /** Seconds since the last walk ended, or before that since the first one began. */
  walkAge: number;
}

export const readChecks = (sql: ISql) =>
  firstRow(sql<[Checks]>`
    select case when violations <> '[]' then false when proved_at is not null then true end as ok,
      extract(epoch from now() - proved_at)::float8 as "proofAge",
      extract(epoch from now() - coalesce(walked_at, walk_begun_at))::float8 as "walkAge"
    from ledger_checks`);

/** Identifies a violation. The detail may change while the violation stays, so it counts only without a player. */
const keyOf = ({ kind, playerId, transactionId, detail }: Violation): string =>
  JSON.stringify([kind, playerId, transactionId, playerId === null ? detail : null]);

/** Adds new violations to the stored ones; a violation that was found again gets the new time. */
const merge = (
  stored: readonly StoredViolation[],
  found: readonly Violation[],
  foundAt: string,
): StoredViolation[] => {
  const all = new Map(stored.map((violation) => [keyOf(violation), violation]));
  for (const violation of found) all.set(keyOf(violation), { ...violation, foundAt });
  return [...all.values()].slice(0, maxViolations);
};

const json = (violations: readonly StoredViolation[]): string => JSON.stringify(violations);

/** Adds the findings of a proof to the stored violations. Returns all of them. */
export const storeProof = (sql: Sql, { checkedAt, violations }: Findings): Promise<StoredViolation[]> =>
  sql.begin(async (tx) => {
    const [checks] = await tx<[{ stored: StoredViolation[] }]>`
      select violations as stored from ledger_checks for update`;
    const merged = merge(checks.stored, violations, checkedAt);
    await tx`update ledger_checks set proved_at = ${checkedAt}, violations = ${json(merged)}::text::jsonb`;
    return merged;
  });

/** Replaces all stored violations by the findings of a check of the whole ledger. Does nothing on a replica of the database. */
export const storeWholeCheck = async (sql: Sql, { checkedAt, violations }: Findings): Promise<void> => {
  if (await firstValue(sql<[{ value: boolean }]>`select pg_is_in_recovery() as value`)) return;
  await sql`update ledger_checks set proved_at = ${checkedAt}, walk_begun_at = now(), walked_at = now(), walked_number = 0,
    walked_day = null, violations = ${json(merge([], violations, checkedAt))}::text::jsonb`;
};

/** Progress of the walk. `dueNumber` and `dueDay`: how far it must be by now. */
interface Walk {
  number: number;
  day: string | null;
  dueNumber: number;
  dueDay: string | null;
  /** Whether the time for the walk is over. */
  isOver: boolean;
  begunAt: string;
  provedAt: string | null;
  now: string;
  stored: StoredViolation[];
}

/** Locks the walk until the end of the transaction; undefined while another process has it. */
export const lockWalk = (tx: TransactionSql, walkDays: number) =>
  firstRow(tx<Walk[]>`
    select walked_number::float8 as number, walked_day::text as day, share >= 1 as "isOver",
      ceil(share * coalesce((select max(sealed_ranges.number) from sealed_ranges), 0))::float8 as "dueNumber",
      (select min(day) + ceil(share * (max(day) - min(day) + 1))::int - 1 from daily_sums)::text as "dueDay",
      ${isoTime(tx, tx`walk_begun_at`)} as "begunAt", ${isoTime(tx, tx`proved_at`)} as "provedAt",
      ${isoTime(tx, tx`now()`)} as now, violations as stored
    from ledger_checks cross join lateral (
      select least(1, extract(epoch from now() - walk_begun_at) / ${walkDays * 86_400}::float8) as share) part
    for update of ledger_checks skip locked`);

/** Stores the progress of the walk, and the violations of its last slice. */
export const storeSlice = async (
  tx: TransactionSql,
  { stored, now }: Walk,
  violations: readonly Violation[],
  { number, day }: { number: number; day: string | null },
): Promise<void> => {
  await tx`update ledger_checks set walked_number = ${number}, walked_day = ${day},
    violations = ${json(merge(stored, violations, now))}::text::jsonb`;
};

/** Ends the walk and begins the next. Removes violations that neither this walk nor a proof since its beginning has found. */
export const endWalk = async (tx: TransactionSql, { stored, begunAt, provedAt }: Walk): Promise<void> => {
  const isOld = ({ foundAt }: StoredViolation) =>
    provedAt !== null && foundAt < begunAt && foundAt < provedAt;
  await tx`update ledger_checks set walk_begun_at = now(), walked_at = now(), walked_number = 0, walked_day = null,
    violations = ${json(stored.filter((violation) => !isOld(violation)))}::text::jsonb`;
};
