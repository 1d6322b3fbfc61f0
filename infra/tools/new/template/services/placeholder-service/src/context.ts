import { createTokenVerifier, type Caller } from '@platform/auth/bearer';
import { openBaseContext, type BaseContext, type LogAndMetrics } from '@platform/service-kit/context';
import { tokenOptions } from '@platform/service-kit/env';
import type { Guard } from '@platform/service-kit/route';
import type { Env } from './env.ts';

export const migrations = new URL('../migrations', import.meta.url).pathname;

export interface Context extends BaseContext {
  /** Authentication of readers and of writers. */
  reader: Guard<Caller>;
  writer: Guard<Caller>;
}

/** Creates what every request needs: connections, clients, the clock. Tests replace parts with `overrides`. */
export const createContext = (env: Env, parts: LogAndMetrics, overrides: Partial<Context> = {}): Context => {
  const tokens = createTokenVerifier(tokenOptions(env));
  return {
    ...openBaseContext(env, { name: 'placeholder-service', migrations }, parts),
    reader: tokens.guard('placeholder-service:read'),
    writer: tokens.guard('placeholder-service:write'),
    ops: tokens,
    ...overrides,
  };
};
