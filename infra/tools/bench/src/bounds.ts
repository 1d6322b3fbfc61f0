/** Checks of a median against a bound. */
export const atMost =
  (most: number) =>
  (value: number): boolean =>
    value <= most;

export const atLeast =
  (least: number) =>
  (value: number): boolean =>
    value >= least;
