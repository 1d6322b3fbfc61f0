import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import postgres, { type Sql } from 'postgres';
import { migrate, shippedMigrations, type Migrations } from '../database/migrate.ts';
import { inSchema } from '../database/schema.ts';

export interface TestDatabase extends AsyncDisposable {
  url: string;
}

/** The URL with a schema that is no service's default, so that a statement that named that one would fail. */
export const inTestSchema = (url: string): string => inSchema(url, 'tested');

const withDatabase = (url: string, name: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return inTestSchema(changed.href);
};

/** The same migrations give the same template, whichever test file comes first. */
const templateName = (migrations: Migrations): string => {
  const hash = createHash('sha256').update(shippedMigrations(migrations).join('\n')).digest('hex');
  return `template_${hash.slice(0, 16)}`;
};

const openAdmin = (serverUrl: string, idleSeconds?: number): Sql =>
  postgres(serverUrl, { max: 1, idle_timeout: idleSeconds, fetch_types: false, onnotice: () => undefined });

/** Connections of this process that create and drop databases, by URL; they close when they are idle. */
const admins = new Map<string, Sql>();
const adminOf = (serverUrl: string): Sql => {
  const admin = admins.get(serverUrl) ?? openAdmin(serverUrl, 2);
  admins.set(serverUrl, admin);
  return admin;
};

const readNodes = async (serverUrl: string): Promise<string[]> => {
  const admin = adminOf(serverUrl);
  const [citus] = await admin`select from pg_extension where extname = 'citus'`;
  if (!citus) return [serverUrl];
  const nodes = await admin<{ host: string; port: number }[]>`
    select nodename as host, nodeport as port from pg_dist_node order by groupid`;
  return nodes.map(({ host, port }) => Object.assign(new URL(serverUrl), { hostname: host, port }).href);
};

const clusters = new Map<string, Promise<string[]>>();

/** Servers that a database is on: the nodes of the Citus cluster whose coordinator this is, else itself. */
const nodesOf = (serverUrl: string): Promise<string[]> => {
  const nodes = clusters.get(serverUrl) ?? readNodes(serverUrl);
  clusters.set(serverUrl, nodes);
  return nodes;
};

const onNodes = async (serverUrl: string, work: (admin: Sql) => Promise<unknown>): Promise<void> => {
  for (const node of await nodesOf(serverUrl)) await work(adminOf(node));
};

const inDatabase = async (url: string, work: (sql: Sql) => Promise<unknown>): Promise<void> => {
  const sql = openAdmin(url);
  await work(sql).finally(() => sql.end());
};

/** Makes the new database on all nodes one of the cluster, before it has tables. */
const joinDatabase = async (coordinator: string, workers: string[]): Promise<void> => {
  for (const node of [...workers, coordinator]) await inDatabase(node, (sql) => sql`create extension citus`);
  await inDatabase(coordinator, async (sql) => {
    await sql`select citus_set_coordinator_host(${new URL(coordinator).hostname})`;
    for (const worker of workers) {
      const { hostname, port } = new URL(worker);
      await sql`select citus_add_node(${hostname}, ${Number(port)})`;
    }
  });
};

/** Creates the template unless it exists; other processes that want it wait. */
const createTemplate = async (serverUrl: string, template: string, migrations: Migrations): Promise<void> => {
  // Stays open while it is idle: its lock is gone with it.
  const sql = openAdmin(serverUrl);
  try {
    await sql`select pg_advisory_lock(hashtext(${template}))`;
    const [found] = await sql`select 1 from pg_database where datname = ${template} and datistemplate`;
    if (found) return;
    await onNodes(serverUrl, async (admin) => {
      await admin`drop database if exists ${admin(template)}`;
      await admin`create database ${admin(template)}`;
    });
    const [own = '', ...workers] = (await nodesOf(serverUrl)).map((node) => withDatabase(node, template));
    if (workers.length > 0) await joinDatabase(own, workers);
    await migrate(withDatabase(serverUrl, template), migrations);
    // The schema goes to one of the workers.
    if (workers.length > 0) await inDatabase(own, (sql) => sql`select citus_schema_distribute('tested')`);
    await onNodes(serverUrl, async (admin) => {
      await admin`alter database ${admin(template)} allow_connections false`;
      // A pooler between this process and PostgreSQL keeps its connection, and Citus has one of its own.
      await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${template}`;
    });
    await sql`alter database ${sql(template)} is_template true`;
  } finally {
    await sql.end();
  }
};

/** Templates that this process has created or found, by the URL of their server and their name. */
const templates = new Map<string, Promise<void>>();
const provideTemplate = async (
  serverUrl: string,
  template: string,
  migrations: Migrations,
): Promise<void> => {
  const key = `${serverUrl} ${template}`;
  const creating = templates.get(key) ?? createTemplate(serverUrl, template, migrations);
  templates.set(key, creating);
  await creating.catch((error: unknown) => {
    templates.delete(key);
    throw error;
  });
};

/**
 * A database of its own for one test file, cloned in some 30 ms from a template that holds
 * `migrations`. `serverUrl` is a superuser's URL. Dropped on disposal.
 */
export const cloneDatabase = async (serverUrl: string, migrations: Migrations): Promise<TestDatabase> => {
  const template = templateName(migrations);
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await provideTemplate(serverUrl, template, migrations);
  await onNodes(serverUrl, async (admin) => {
    // A copy of the files needs less processor time than the default, which writes all pages to the WAL.
    await admin`create database ${admin(name)} template ${admin(template)} strategy file_copy`;
    // As in production: on a worker of Citus, triggers have no other.
    await admin`alter database ${admin(name)} set search_path = tested, extensions`;
  });
  const isCluster = (await nodesOf(serverUrl)).length > 1;
  return {
    url: withDatabase(serverUrl, name),
    [Symbol.asyncDispose]: () =>
      onNodes(serverUrl, async (admin) => {
        const dropped = admin`drop database if exists ${admin(name)} with (force)`;
        // Citus opens its own connection again and again.
        await (isCluster ? dropped.catch(() => undefined) : dropped);
      }),
  };
};

/** The migrations of the service in this folder. */
export const migrationsOf = async (folder: string): Promise<Migrations> =>
  ((await import(join(folder, 'src/context.ts'))) as { migrations: Migrations }).migrations;

/** `cloneDatabase` for the service in this folder. */
export const cloneServiceDatabase = async (serverUrl: string, folder: string): Promise<TestDatabase> =>
  cloneDatabase(serverUrl, await migrationsOf(folder));
