import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLog } from '@platform/service-kit/log';
import { processEnv } from './env.ts';
import { createMetrics } from './metrics.ts';
import { startReceiver } from './receiver.ts';

const env = processEnv();
const log = createLog('gateway-telemetry', env.LOG_LEVEL);
const stack = new AsyncDisposableStack();
const { registry, record } = createMetrics();

const openSpans = async (endpoint: string) => {
  const spans = await import('./spans.ts');
  const [headers, ratio] = [env.OTEL_EXPORTER_OTLP_HEADERS, env.OTEL_TRACES_SAMPLER_ARG];
  return stack.use(spans.openSpans({ endpoint, headers, ratio }));
};
const spans = env.OTEL_EXPORTER_OTLP_ENDPOINT && (await openSpans(env.OTEL_EXPORTER_OTLP_ENDPOINT));

const server = createServer((request, response) => {
  response.setHeader('Content-Type', registry.contentType);
  if (request.url === '/metrics') void registry.metrics().then((text) => response.end(text));
  else response.writeHead(request.url === '/livez' ? 200 : 404).end();
});
server.listen(env.PORT, env.HOST);
await once(server, 'listening');
stack.defer(() => void server.close());
const { port } = server.address() as AddressInfo;
stack.use(
  await startReceiver(port, {
    onRequest: (request) => {
      record(request);
      if (spans) spans.record(request);
    },
    onInvalid: () => log.warn('received a datagram that is not a request'),
  }),
);
log.info({ port }, 'listening');

const stop = async (): Promise<void> => {
  server.closeAllConnections();
  await stack.disposeAsync();
  log.flush(() => process.exit(0));
};
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => void stop());
