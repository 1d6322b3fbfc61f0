import { csvLine } from '@platform/service-kit/csv';
import type { Webhooks, WebhooksAnswer } from './api.ts';
import { readAll, type Session } from './session.ts';

/** The webhooks of a store that were received in a span of time and have a status. */
export interface Span {
  /** Path of the list of webhooks of the store. */
  events: string;
  from: string;
  to: string;
  /** `refused` ones are verified again, others are replayed. */
  status: string;
}

/** What one request of a bulk replay or recheck did; `next` is where the following request continues. */
type Step = WebhooksAnswer<'replayEvents'> | WebhooksAnswer<'recheckEvents'>;

/** How far a bulk replay or recheck has come, in sums. For a replay `visited` and `accepted` are the same. */
export interface BulkProgress {
  visited: number;
  accepted: number;
  /** Could not be verified. */
  failed: number;
  /** Where the next request continues; absent at the start, null at the end. */
  after?: string | null;
}

export const startOfSpan = (): BulkProgress => ({ visited: 0, accepted: 0, failed: 0 });

interface Control {
  /** Where it begins; moved on, so that a run that ended with an error continues there. */
  progress?: BulkProgress;
  report?: (progress: BulkProgress) => void;
  stop?: () => boolean;
}

/** Sends requests until the end of the span, and reports the progress after each. Stops when `stop` says so. */
export const runBulk = async (
  session: Session,
  { events, from, to, status }: Span,
  isDryRun: boolean,
  { progress = startOfSpan(), report = () => {}, stop = () => false }: Control = {},
): Promise<BulkProgress> => {
  const isRecheck = status === 'refused';
  const path = `${events}/${isRecheck ? 'recheck' : 'replay'}${isDryRun ? '?dryRun=true' : ''}`;
  while (progress.after !== null && !stop()) {
    const { after } = progress;
    const body = { from, to, ...(!isRecheck && { status }), ...(after !== undefined && { after }) };
    const step: Step = await session.ask<Step>(path, 'POST', body);
    progress.visited += 'replayed' in step ? step.replayed : step.checked;
    progress.accepted += 'replayed' in step ? step.replayed : step.accepted;
    progress.failed += 'replayed' in step ? 0 : step.failed;
    progress.after = step.next;
    report(progress);
  }
  return progress;
};

/** What a replay of the newest webhooks of a span would do. */
export interface Sample {
  size: number;
  changed: number;
  unchanged: number;
  /** Error messages, with how many webhooks have each. */
  errors: Map<string, number>;
}

const sampleSize = 10;

/** Tries a replay of the newest webhooks of a span, without a change. */
export const trySample = async (session: Session, { events, ...span }: Span): Promise<Sample> => {
  const query = new URLSearchParams({ ...span, limit: String(sampleSize) });
  const { events: newest } = await session.ask<WebhooksAnswer<'listEvents'>>(`${events}?${query}`);
  const sample: Sample = { size: newest.length, changed: 0, unchanged: 0, errors: new Map() };
  for (const { id } of newest) {
    const { changes = [], error } = await session.ask<WebhooksAnswer<'replayEvent'>>(
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
 * The present state of the webhooks of a span that have ended since an instant or are pending, as CSV.
 * @param since ISO time of the services, not of the browser
 */
export const resultOf = async (session: Session, span: Span, since: string): Promise<string> => {
  const { events, from, to } = span;
  const all = await readAll<Webhooks['Event']>(session, events, { from, to });
  const ended = all.filter(({ finishedAt }) => finishedAt === null || finishedAt >= since);
  const lines = ended.map((event) => columns.map((column) => event[column]));
  return [columns, ...lines].map((line) => csvLine(line)).join('');
};
