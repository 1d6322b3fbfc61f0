/** Series in the notation of promtool, one value per minute (`0+10x40`: 0, then 40 increments of 10). */
export type Series = Record<string, string>;

/** Series with a fault for which an alert fires, and series without that fault. */
export interface Case {
  alert: string;
  fault: Series;
  healthy: Series;
  /** Minutes after the first value: at this time the alert fires with `fault`, and not with `healthy`. */
  at: number;
  /** Labels of the alert except its severity. */
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

/** Case for an alert on one metric. By default the alert has only the label `service`. */
export const onValue = (
  alert: string,
  metric: string,
  {
    seriesLabels,
    labels = { service: seriesLabels.service ?? '' },
    faultyValue,
    healthyValue,
    at,
    summary,
  }: {
    seriesLabels: Labels;
    labels?: Labels;
    faultyValue: number | string;
    healthyValue: number | string;
    at: number;
    summary: string;
  },
): Case => ({
  alert,
  fault: { [series(metric, seriesLabels)]: constant(faultyValue) },
  healthy: { [series(metric, seriesLabels)]: constant(healthyValue) },
  at,
  labels,
  summary,
});
