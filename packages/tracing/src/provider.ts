import { hostname } from 'node:os';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type IdGenerator,
} from '@opentelemetry/sdk-trace';

/** Settings with OpenTelemetry's names, described and checked in service-kit (`traceEnv`). */
export interface TraceEnv {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  OTEL_EXPORTER_OTLP_HEADERS?: string | undefined;
  OTEL_TRACES_SAMPLER?: 'traceidratio' | 'always_on' | 'always_off' | undefined;
  OTEL_TRACES_SAMPLER_ARG?: number | undefined;
}

export interface ProviderOptions {
  /** The attribute `service.name`, unless OTEL_SERVICE_NAME is set. */
  service: string;
  /** Address of the collector, without `/v1/traces`. */
  endpoint: string;
  env: TraceEnv;
  /** Generator of trace and span ids; random by default. */
  ids?: IdGenerator;
}

/** Share of the traces that are sampled, from 0 to 1. */
const sampleRate = ({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: share = 1 }: TraceEnv): number =>
  ({ traceidratio: share, always_on: 1, always_off: 0 })[sampler ?? 'traceidratio'];

/** Parses `name=value,…`; the values are percent-encoded. */
const parseHeaders = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(',').flatMap((pair) => {
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]];
    }),
  );

/** Sends spans to the collector in batches, every second; spans that it does not accept are dropped. */
export const openProvider = ({ service, endpoint, env, ids }: ProviderOptions): TracerProvider => {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint}${endpoint.endsWith('/') ? '' : '/'}v1/traces`,
    headers: parseHeaders(env.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    timeoutMillis: 5000,
  });
  return new TracerProvider({
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override these attributes.
    resource: resourceFromAttributes({ 'service.name': service, 'service.instance.id': hostname() }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    // Decides by the trace id alone, so that all processes decide alike; ignores the caller's `sampled` flag.
    sampler: new TraceIdRatioBasedSampler(sampleRate(env)),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1000 })],
    ...(ids && { idGenerator: ids }),
  });
};
