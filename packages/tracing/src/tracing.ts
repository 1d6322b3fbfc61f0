import type { RequestListener } from 'node:http';

type Count = (method: string, route: string, status: number, ms: number) => void;

/** Ids of the span that is under way, in hex, as a log line has them; nothing outside of one. */
export type TraceFields = { trace_id: string; span_id: string } | Record<string, never>;

/** What a process that is traced does on top. Undefined everywhere when tracing is off. */
export interface Tracing extends AsyncDisposable {
  /** Puts each request into a span, as a child of its `traceparent`. */
  requests(next: RequestListener): RequestListener;
  /** Lets requests that are counted by route name their span by it. */
  naming<Counted extends { record: Count }>(metrics: Counted): Counted;
  fields(): TraceFields;
  /** `always`: begins a trace where there is none. */
  inSpan<T>(name: string, always: boolean, work: () => Promise<T>): Promise<T>;
}
