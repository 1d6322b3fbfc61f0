/** The rows of one page, and whether more follow. */
export interface Slice<T> {
  items: T[];
  hasMore: boolean;
}

/** Of up to `limit` + 1 rows: the page, and from the row too many that there is a next one. */
export const slice = <T>(rows: readonly T[], limit: number): Slice<T> => ({
  items: rows.slice(0, limit),
  hasMore: rows.length > limit,
});
