/** Series in the notation of promtool (`0+10x40`: 0, and 40 times 10 more), a value each minute. */
export type Series = Record<string, string>;

/** A fault at which an alert fires, and what it looks like without that fault. */
export interface Case {
  alert: string;
  fault: Series;
  healthy: Series;
  /** Minutes after the first value; `fault` fires at this time, `healthy` at no time. */
  at: number;
  /** Labels of the alert beside its severity. */
  labels: Record<string, string>;
  summary: string;
}

export const replica = { service: 'quest-service', instance: 'quest-1' };
export const webhooks = { service: 'store-webhooks', instance: 'hooks-1' };
export const wallet = { service: 'wallet-operator', instance: 'wallet-1' };
export type Labels = Record<string, string>;

export const series = (name: string, labels: Labels): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',')}}`;

export const constant = (value: number | string): string => `${value}x120`;

/** An alert on one value of a replica. It names the service alone unless `labels` says otherwise. */
export const onValue = (
  alert: string,
  metric: string,
  {
    of,
    labels = { service: of.service ?? '' },
    bad,
    good,
    at,
    summary,
  }: {
    of: Labels;
    labels?: Labels;
    bad: number | string;
    good: number | string;
    at: number;
    summary: string;
  },
): Case => ({
  alert,
  fault: { [series(metric, of)]: constant(bad) },
  healthy: { [series(metric, of)]: constant(good) },
  at,
  labels,
  summary,
});
