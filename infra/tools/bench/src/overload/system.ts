import postgres, { type Sql } from 'postgres';
import { startBackingServices, startService, type BenchService } from '../service.ts';
import { onOwnCores } from './cores.ts';
import { targets, type MakeRequests } from './targets.ts';

export interface System extends AsyncDisposable {
  service: BenchService;
  sql: Sql;
  /** The most frequent request of the service. */
  makeRequests: MakeRequests;
}

/** A service with its database, filled, on cores of their own. `more` are settings beside those of its target. */
export const startSystem = (name: keyof typeof targets, more: Record<string, string> = {}): Promise<System> =>
  onOwnCores(async () => {
    await using stack = new AsyncDisposableStack();
    const { settings, prepare } = targets[name];
    const backing = stack.use(await startBackingServices());
    const service = stack.use(await startService(name, backing, { ...settings, ...more }));
    const sql = postgres(service.databaseUrl, { max: 2, onnotice: () => undefined });
    stack.defer(() => sql.end());
    const makeRequests = await prepare(service, sql);
    const owned = stack.move();
    return { service, sql, makeRequests, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  });

/** Runs `work` while a transaction holds the lock that `statement` takes. */
export const whileLocked = (sql: Sql, statement: string, work: () => Promise<unknown>): Promise<unknown> =>
  sql.begin(async (tx) => {
    await tx.unsafe(statement);
    await work();
  });
