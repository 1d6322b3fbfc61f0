import type { Subscriptions } from './api.ts';
import type { Points } from './traffic.tsx';

export type Subscription = Subscriptions['Subscription'];
export type Attempt = Subscriptions['DeliveryAttempt'];

/** The path of the subscriptions of a service in the API. */
export const pathOf = (service: string): string => `/v1/feeds/${service}/subscriptions`;

/** The time within which half of the attempts ended; null of none. */
export const medianMs = (attempts: readonly Attempt[]): number | null =>
  attempts.map(({ ms }) => ms).toSorted((a, b) => a - b)[Math.floor(attempts.length / 2)] ?? null;

/** How many percent of the attempts failed; null of none. */
export const failedShare = (attempts: readonly Attempt[]): number | null =>
  attempts.length === 0
    ? null
    : (100 * attempts.filter(({ error }) => error !== null).length) / attempts.length;

const parts = 30;

/** Attempts as charts from the first of them until now. @param attempts the newest first @param now ms since 1970 */
export const trendOf = (attempts: readonly Attempt[], now: number) => {
  const spanMs = Math.max(60_000, now - Date.parse(attempts.at(-1)?.sentAt ?? ''));
  const ends = Array.from({ length: parts }, (_, at) => now - (spanMs * (parts - 1 - at)) / parts);
  const groups = Map.groupBy(attempts, ({ sentAt }) => ends.find((end) => Date.parse(sentAt) <= end) ?? now);
  const pointsOf = (valueOf: (some: readonly Attempt[]) => number | null): Points => [
    ends.map((end) => end / 1000),
    ends.map((end) => valueOf(groups.get(end) ?? [])),
  ];
  return { spanSeconds: spanMs / 1000, failed: pointsOf(failedShare), ms: pointsOf(medianMs) };
};
