/** One slice of the events of a span, in the order of receipt. */
export interface Slice {
  /** Events in it. */
  count: number;
  /** Id of its last event; undefined where it is empty. */
  last: string | undefined;
}

interface SliceOptions {
  /** Id of the last event that was visited before. */
  after: string | undefined;
  /** Events in a slice; a smaller one is the last. */
  size: number;
  /** No further slice begins after this long; 3 seconds unless set. */
  budgetMs?: number;
}

/**
 * Visits a span in slices, each in a transaction of its own, so that no slice holds locks for long and a
 * crash loses nothing. Returns the id to go on after, or null at the end of the span.
 */
export const inSlices = async (
  { after, size, budgetMs = 3000 }: SliceOptions,
  visit: (after: string | undefined) => Promise<Slice>,
): Promise<string | null> => {
  const end = performance.now() + budgetMs;
  for (let from = after; ;) {
    const { count, last } = await visit(from);
    if (count < size || last === undefined) return null;
    if (performance.now() >= end) return last;
    from = last;
  }
};
