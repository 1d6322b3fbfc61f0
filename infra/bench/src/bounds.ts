/** Verdicts of figures: whether a median keeps its bound. */
export const atMost =
  (most: number) =>
  (value: number): boolean =>
    value <= most;

export const atLeast =
  (least: number) =>
  (value: number): boolean =>
    value >= least;
