import { readEnv } from '@platform/service-kit/env';
import { z } from 'zod';

const shape = {
  HOST: z.string().default('127.0.0.1'),
  /** UDP. */
  PORT: z.coerce.number().int().min(0).max(65535).default(5140),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }),
  OTEL_EXPORTER_OTLP_HEADERS: z.string().default(''),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
};

/** The environment of this process; read once, in main.ts. */
export const processEnv = () => readEnv(shape, process.env);
