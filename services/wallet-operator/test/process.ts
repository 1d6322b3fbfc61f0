import { startServiceProcess, type ServiceProcess } from '@platform/service-kit/testing';
import { secret } from './harness.ts';

/** Settings of a service that runs as a process of its own. */
export const processEnvironment = (databaseUrl: string, redisUrl = '') => ({
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
  AUTH_JWKS: 'none',
  AUTH_ISSUER: 'test',
  AUTH_AUDIENCE: 'test',
  HMAC_SECRET: secret,
  DRAIN_MS: '0',
  // A busy machine may need longer than the default of 2 s.
  MAX_WAIT_MS: '20000',
  // More than the callbacks that may wait, so that a test sees those beyond refused and not their connections.
  MAX_CONNECTIONS: '4000',
  MAX_IN_PROGRESS: '4000',
});

/** The service as a process of its own. */
export const startProcess = (
  databaseUrl: string,
  redisUrl = '',
  variables: Record<string, string> = {},
): Promise<ServiceProcess> =>
  startServiceProcess({
    folder: new URL('..', import.meta.url).pathname,
    variables: { ...processEnvironment(databaseUrl, redisUrl), ...variables },
  });
