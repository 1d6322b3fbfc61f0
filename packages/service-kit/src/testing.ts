import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import postgres from 'postgres';
import { createLog, type Log } from './process/log.ts';
import { migrate } from './process/migrate.ts';
import { createHttpServer } from './http/server.ts';

export interface TestDatabase extends AsyncDisposable {
  url: string;
}

const withDatabase = (url: string, name: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
};

/** The same migrations give the same template, whichever test file comes first. */
const templateName = (folder: string): string => {
  const journal = readFileSync(join(folder, 'meta/_journal.json'), 'utf8');
  const tags = (JSON.parse(journal) as { entries: { tag: string }[] }).entries.map(({ tag }) => tag);
  const sources = tags.map((tag) => readFileSync(join(folder, `${tag}.sql`), 'utf8'));
  return `template_${createHash('sha256').update(journal).update(sources.join('\n')).digest('hex').slice(0, 16)}`;
};

/**
 * A database of its own for one test file, cloned in some 30 ms from a template that holds
 * `migrations` (a folder). `serverUrl` is a superuser's URL. Dropped on disposal.
 */
export const cloneDatabase = async (serverUrl: string, migrations: string): Promise<TestDatabase> => {
  const template = templateName(migrations);
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const sql = postgres(serverUrl, { max: 1, onnotice: () => undefined });
  try {
    await sql`select pg_advisory_lock(hashtext(${template}))`;
    const [found] = await sql`select 1 from pg_database where datname = ${template} and datistemplate`;
    if (!found) {
      await sql`drop database if exists ${sql(template)}`;
      await sql`create database ${sql(template)}`;
      await migrate(withDatabase(serverUrl, template), migrations);
      await sql`alter database ${sql(template)} is_template true allow_connections false`;
    }
    await sql`create database ${sql(name)} template ${sql(template)}`;
  } finally {
    await sql.end();
  }
  return {
    url: withDatabase(serverUrl, name),
    [Symbol.asyncDispose]: async () => {
      const admin = postgres(serverUrl, { max: 1, onnotice: () => undefined });
      await admin`drop database if exists ${admin(name)} with (force)`;
      await admin.end();
    },
  };
};

/** Serves an app on a port of its own, the way a service does; closed on disposal. */
export const serve = async (listener: RequestListener): Promise<AsyncDisposable & { url: string }> => {
  const server = createHttpServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

/** A log whose lines a test can read. */
export const captureLog = (level = 'info'): { log: Log; lines: string[] } => {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { log: createLog('test', level, stream), lines };
};
