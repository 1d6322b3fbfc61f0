import type { Sql } from 'postgres';

/** Why a failed event needs no more attention, and who dismissed it. */
export interface Dismissal {
  note: string;
  dismissedBy: string;
}

/** Dismisses a failed event. Returns the time (ISO 8601), or undefined if its state is not `failed`. */
export const dismissFailedEvent = async (
  sql: Sql,
  storeId: string,
  id: string,
  { note, dismissedBy }: Dismissal,
): Promise<string | undefined> => {
  const [row] = await sql<{ dismissedAt: Date | string }[]>`
    update results set state = 'dismissed', note = ${note}, dismissed_by = ${dismissedBy}, dismissed_at = now()
    where store_id = ${storeId} and id = ${id} and state = 'failed' returning dismissed_at as "dismissedAt"`;
  return row && new Date(row.dismissedAt).toISOString();
};
