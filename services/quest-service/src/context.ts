import { openBaseContext, type BaseContext, type Parts } from '@platform/service-kit/context';
import type { Env } from './env.ts';

export const migrations = new URL('../migrations', import.meta.url).pathname;

export interface Context extends BaseContext {}

/** Opens everything the service holds on to; `overrides` replace parts in tests. */
export const createContext = (env: Env, parts: Parts, overrides: Partial<Context> = {}): Context => ({
  ...openBaseContext(env, { name: 'quest-service', migrations }, parts),
  ...overrides,
});
