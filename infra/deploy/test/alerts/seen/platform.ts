import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { signal } from '@platform/local/process';
import type { LocalStack, StackFile } from '@platform/e2e/stack';
import postgres, { type Sql } from 'postgres';
import type { Monitoring } from './monitoring.ts';

/** What faults work on. */
export interface Target {
  stack: LocalStack;
  /** stack.json, when everything was ready. */
  file: StackFile;
  monitoring: Monitoring;
  /** That of `monitoring`. */
  folder: string;
  /** Where the exporter of a standby will listen: `host:port`. */
  standby: string;
  /** Disposed of at the end. */
  resources: AsyncDisposableStack;
  /** The database of a service, as its superuser. */
  ownerOf: (service: string) => Sql;
}

/** Ends a fault. */
export type Mend = () => Promise<unknown>;

export const openOwners = (file: StackFile) => {
  const open = new Map<string, Sql>();
  const ownerOf = (service: string): Sql => {
    const known = open.get(service);
    if (known) return known;
    const url = new URL(file.postgres.url);
    url.pathname = new URL(file.services[service]?.databaseUrl ?? '').pathname;
    const sql = postgres(url.href, { max: 6, onnotice: () => {} });
    open.set(service, sql);
    return sql;
  };
  return { ownerOf, close: () => Promise.all([...open.values()].map((sql) => sql.end({ timeout: 0 }))) };
};

/** Runs a statement in a transaction that stays open, such as one that takes a lock; the result ends it. */
export const hold = async (sql: Sql, statement: string): Promise<Mend> => {
  const connection = await sql.reserve();
  await connection.unsafe('begin');
  await connection.unsafe(statement);
  return async () => {
    await connection.unsafe('rollback');
    connection.release();
  };
};

/** Repeats a request, `count` at a time, until the result is called. What it answers does not matter. */
export const repeat = (request: () => Promise<unknown>, { count = 1, pauseMs = 50 } = {}): Mend => {
  const end = new AbortController();
  const loop = async (): Promise<void> => {
    while (!end.signal.aborted) {
      await request().catch(() => {});
      await sleep(pauseMs);
    }
  };
  const loops = Array.from({ length: count }, loop);
  return async () => {
    end.abort();
    await Promise.all(loops);
  };
};

/** A request of another client than all others: the gateway counts the requests of each address. */
export const getAsOther = (url: string, headers: Record<string, string>): Promise<void> =>
  new Promise((resolve, reject) => {
    get(url, { headers, localAddress: '127.0.0.9', agent: false, timeout: 40_000 }, (response) => {
      response.resume();
      response.once('close', resolve);
    }).once('error', reject);
  });

/** Sends a request and waits for the end of the answer. */
export const send = async (url: string, init: RequestInit = {}): Promise<void> => {
  const response = await fetch(url, { signal: AbortSignal.timeout(40_000), redirect: 'manual', ...init });
  await response.arrayBuffer();
};

/** Stops processes without ending them; the result lets them go on. */
export const freeze = (pids: readonly number[]): Mend => {
  for (const pid of pids) signal(pid, 'SIGSTOP');
  return () => {
    for (const pid of pids) signal(pid, 'SIGCONT');
    return Promise.resolve();
  };
};

/** Kills a program of the stack as soon as it was started again, until the result is called. */
export const keepKilling = ({ stack }: Target, name: string): Mend =>
  repeat(async () => {
    const pid = (await stack.pids())[name];
    if (pid) signal(pid, 'SIGKILL');
  });

/** Takes a service its database, as a changed password does: connections end and none begins. */
export const lockOut = async ({ file, ownerOf }: Target, service: string): Promise<Mend> => {
  const role = new URL(file.services[service]?.databaseUrl ?? '').username;
  const sql = ownerOf(service);
  await sql.unsafe(`alter role "${role}" nologin`);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${role}`;
  return () => sql.unsafe(`alter role "${role}" login`);
};

/** All mends as one, from the last to the first. */
export const allOf =
  (...mends: Mend[]): Mend =>
  async () => {
    for (const mend of mends.toReversed()) await mend();
  };
