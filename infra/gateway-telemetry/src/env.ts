import { readEnv, traceEnv } from '@platform/service-kit/env';
import { z } from 'zod';

const shape = {
  /** Listens here for /metrics requests and datagrams; only the gateway should be able to send the datagrams. */
  HOST: z.string().default('127.0.0.1'),
  /** TCP for /metrics, UDP for datagrams. */
  PORT: z.coerce.number().int().min(0).max(65535).default(9145),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  ...traceEnv,
};

/** Reads the environment of this process; called once, in main.ts. */
export const processEnv = () => readEnv(shape, process.env);
