import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const Value = z
  .object({ stringValue: z.string(), intValue: z.union([z.string(), z.number()]), boolValue: z.boolean() })
  .partial();
const Attributes = z
  .array(z.object({ key: z.string(), value: Value }))
  .transform((pairs) => Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]])));

/** ExportTraceServiceRequest of OTLP 1.x in its JSON form: ids in hex, enums as numbers, times as decimal strings. */
const Export = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: Attributes }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string().regex(/^[0-9a-f]{32}$/),
              spanId: z.string().regex(/^[0-9a-f]{16}$/),
              parentSpanId: z.string().optional(),
              name: z.string(),
              kind: z.number().int().min(1).max(5),
              startTimeUnixNano: z.string().regex(/^\d+$/),
              endTimeUnixNano: z.string().regex(/^\d+$/),
              attributes: Attributes,
              status: z.object({ code: z.number().optional() }),
            }),
          ),
        }),
      ),
    }),
  ),
});

type Exported = z.output<typeof Export>;
type ReceivedSpan = Exported['resourceSpans'][number]['scopeSpans'][number]['spans'][number];
export interface Span extends ReceivedSpan {
  service: unknown;
  /** Attributes of the process that sent it. */
  resource: Record<string, unknown>;
}

const read = async (req: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};

const spansOf = ({ resourceSpans }: Exported): Span[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        resource: resource.attributes,
        service: resource.attributes['service.name'],
      })),
    ),
  );

/** Polls for at most two minutes until there is a value. */
export const waitFor = async <T>(poll: () => T | undefined, expected: string): Promise<T> => {
  for (const end = Date.now() + 120_000; Date.now() < end;) {
    const value = poll();
    if (value !== undefined) return value;
    await sleep(10);
  }
  throw new Error(`timed out waiting for ${expected}`);
};

/** Starts a stand-in for an OpenTelemetry collector, which receives OTLP over HTTP and stores the requests. */
export const startCollector = async () => {
  const spans: Span[] = [];
  const bodies: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const server = createServer((req, res) => {
    void read(req).then((body) => {
      bodies.push(body);
      headers.push(req.headers);
      const isExport = req.method === 'POST' && req.url === '/v1/traces';
      const parsed = isExport ? Export.safeParse(JSON.parse(body)) : undefined;
      if (parsed?.success) spans.push(...spansOf(parsed.data));
      res.writeHead(parsed?.success ? 200 : 400, { 'Content-Type': 'application/json' });
      res.end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    headers,
    /** Waits until a trace has spans with these names, and returns all its spans. */
    trace: async (id: string, ...names: string[]): Promise<Span[]> => {
      const spansOfTrace = () => spans.filter(({ traceId }) => traceId === id);
      const isComplete = () => names.every((name) => spansOfTrace().some((span) => span.name === name));
      await waitFor(() => isComplete() || undefined, `${names.join(', ')} of ${id}`);
      return spansOfTrace();
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

export type Collector = Awaited<ReturnType<typeof startCollector>>;
