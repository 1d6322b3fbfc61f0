import { csvLine } from '@platform/service-kit/csv';
import type { Webhooks, WebhooksResponse } from './api.ts';
import { readAll, type Session } from './session.ts';

/** Webhooks of a store, by time of receipt and status. */
export interface Span {
  /** Path of the list of webhooks of the store. */
  events: string;
  from: string;
  to: string;
  /** Webhooks with the status `refused` are rechecked, others are replayed. */
  status: string;
}

/** Result of one request of a bulk replay or recheck. The following request continues at `next`. */
type Step = WebhooksResponse<'replayEvents'> | WebhooksResponse<'recheckEvents'>;

/** Totals of a bulk replay or recheck so far. For a replay `visited` and `accepted` are equal. */
export interface BulkProgress {
  visited: number;
  accepted: number;
  /** Webhooks that could not be verified. */
  failed: number;
  /** Position for the next request; absent at the start, null at the end. */
  after?: string | null;
}

export const initialProgress = (): BulkProgress => ({ visited: 0, accepted: 0, failed: 0 });

interface BulkOptions {
  isDryRun?: boolean;
  /** Start position. It is updated, so that a run that failed can continue from there. */
  progress?: BulkProgress;
  report?: (progress: BulkProgress) => void;
  shouldStop?: () => boolean;
}

/** Replays or rechecks webhooks in batches, until the end of the span or until `shouldStop` returns true. */
export const runBulk = async (
  session: Session,
  { events, from, to, status }: Span,
  {
    isDryRun = false,
    progress = initialProgress(),
    report = () => {},
    shouldStop = () => false,
  }: BulkOptions,
): Promise<BulkProgress> => {
  const isRecheck = status === 'refused';
  const path = `${events}/${isRecheck ? 'recheck' : 'replay'}${isDryRun ? '?dryRun=true' : ''}`;
  while (progress.after !== null && !shouldStop()) {
    const { after } = progress;
    const body = { from, to, ...(!isRecheck && { status }), ...(after !== undefined && { after }) };
    const step: Step = await session.ask<Step>(path, 'POST', body);
    const { checked, accepted, failed } =
      'replayed' in step ? { checked: step.replayed, accepted: step.replayed, failed: 0 } : step;
    progress.visited += checked;
    progress.accepted += accepted;
    progress.failed += failed;
    progress.after = step.next;
    report(progress);
  }
  return progress;
};

/** Result of a dry run with the newest webhooks of a span. */
export interface Sample {
  size: number;
  changed: number;
  unchanged: number;
  /** Number of webhooks by error message. */
  errors: Map<string, number>;
}

const sampleSize = 10;

/** Runs a replay of the newest webhooks of a span as a dry run. */
export const dryRunSample = async (session: Session, { events, ...span }: Span): Promise<Sample> => {
  const query = new URLSearchParams({ ...span, limit: String(sampleSize) });
  const { events: newest } = await session.ask<WebhooksResponse<'listEvents'>>(`${events}?${query}`);
  const sample: Sample = { size: newest.length, changed: 0, unchanged: 0, errors: new Map() };
  for (const { id } of newest) {
    const { changes = [], error } = await session.ask<WebhooksResponse<'replayEvent'>>(
      `${events}/${id}/replay?dryRun=true`,
      'POST',
    );
    if (error !== undefined) sample.errors.set(error, (sample.errors.get(error) ?? 0) + 1);
    else if (changes.length > 0) sample.changed++;
    else sample.unchanged++;
  }
  return sample;
};

const columns = ['id', 'event', 'entity', 'status', 'attempts', 'error', 'receivedAt', 'finishedAt'] as const;

/**
 * Exports those webhooks of a span that are pending or have finished since a time, with their current state, as CSV.
 * @param since ISO time of the services, not of the browser
 */
export const exportResult = async (session: Session, span: Span, since: string): Promise<string> => {
  const { events, from, to } = span;
  const eventsInSpan = await readAll<Webhooks['Event']>(session, events, { from, to });
  const processed = eventsInSpan.filter(({ finishedAt }) => finishedAt === null || finishedAt >= since);
  const lines = processed.map((event) => columns.map((column) => event[column]));
  return [columns, ...lines].map((line) => csvLine(line)).join('');
};
