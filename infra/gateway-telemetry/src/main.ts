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

const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = env;
const spans = endpoint && stack.use((await import('./spans.ts')).openSpans({ endpoint, env }));

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
  await startReceiver(port, env.HOST, {
    onRequest: (request) => {
      record(request);
      if (spans) spans.record(request);
    },
    onInvalid: () => log.warn('ignored a datagram that does not describe a request'),
  }),
);
log.info({ port }, 'listening');

const stop = async (): Promise<void> => {
  server.closeAllConnections();
  await stack.disposeAsync();
  log.flush(() => process.exit(0));
};
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => void stop());
