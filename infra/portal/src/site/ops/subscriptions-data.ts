import type { Subscriptions } from './api.ts';
import type { Points } from './traffic.tsx';

export type Subscription = Subscriptions['Subscription'];
export type Attempt = Subscriptions['DeliveryAttempt'];

/** Scope of operators, who see and delete the subscriptions of all users. */
export const adminScope = 'subscriptions:admin';

/** The path of the subscriptions of a service in the API. */
export const pathOf = (service: string): string => `/v1/feeds/${service}/subscriptions`;

/** Median duration of attempts; null if there are none. */
export const medianMs = (attempts: readonly Attempt[]): number | null =>
  attempts.map(({ ms }) => ms).toSorted((a, b) => a - b)[Math.floor(attempts.length / 2)] ?? null;

/** Percentage of failed attempts; null if there are none. */
export const failedShare = (attempts: readonly Attempt[]): number | null =>
  attempts.length === 0
    ? null
    : (100 * attempts.filter(({ error }) => error !== null).length) / attempts.length;

/** Number of points in a chart. */
const pointCount = 30;

/** Points of charts from the first attempt until now. @param attempts newest first @param now ms since 1970 */
export const trendOf = (attempts: readonly Attempt[], now: number) => {
  const spanMs = Math.max(60_000, now - Date.parse(attempts.at(-1)?.sentAt ?? ''));
  const stepMs = spanMs / pointCount;
  const ends = Array.from({ length: pointCount }, (_, index) => now - stepMs * (pointCount - 1 - index));
  const groups = Map.groupBy(attempts, ({ sentAt }) => ends.find((end) => Date.parse(sentAt) <= end) ?? now);
  const pointsOf = (valueOf: (group: readonly Attempt[]) => number | null): Points => [
    ends.map((end) => end / 1000),
    ends.map((end) => valueOf(groups.get(end) ?? [])),
  ];
  return { spanSeconds: spanMs / 1000, failed: pointsOf(failedShare), ms: pointsOf(medianMs) };
};
