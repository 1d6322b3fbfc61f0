import { createLog } from '@platform/service-kit/log';
import { processEnv } from './env.ts';
import { startReceiver } from './receiver.ts';

const env = processEnv();
const log = createLog('gateway-spans', env.LOG_LEVEL);
const receiver = await startReceiver({
  host: env.HOST,
  port: env.PORT,
  endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT,
  headers: env.OTEL_EXPORTER_OTLP_HEADERS,
  ratio: env.OTEL_TRACES_SAMPLER_ARG,
  onInvalid: () => log.warn('received a datagram that is not a request'),
});
log.info({ port: receiver.port }, 'listening');

const stop = async (): Promise<void> => {
  await receiver[Symbol.asyncDispose]();
  log.flush(() => process.exit(0));
};
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => void stop());
