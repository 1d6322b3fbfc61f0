import { hostname } from 'node:os';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type IdGenerator,
} from '@opentelemetry/sdk-trace';

export interface ProviderOptions {
  /** Shown as `service.name`. */
  service: string;
  /** Of the collector, without `/v1/traces`. */
  endpoint: string;
  /** `name=value,…`, percent-encoded, as OpenTelemetry has it. */
  headers: string;
  /** Share of the traces that are kept, from 0 to 1. */
  ratio: number;
  /** Where ids come from; random unless said otherwise. */
  ids?: IdGenerator;
}

const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(',').flatMap((pair) => {
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]];
    }),
  );

/** Gathers spans for a second at most and sends them on; what the collector does not take is dropped. */
export const openProvider = ({ service, endpoint, headers, ratio, ids }: ProviderOptions): TracerProvider => {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint}${endpoint.endsWith('/') ? '' : '/'}v1/traces`,
    headers: headersOf(headers),
    timeoutMillis: 5000,
  });
  return new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.instance.id': hostname() }),
    // By the id of the trace alone, so that everybody comes to the same answer and no caller decides it.
    sampler: new TraceIdRatioBasedSampler(ratio),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1000 })],
    ...(ids && { idGenerator: ids }),
  });
};
