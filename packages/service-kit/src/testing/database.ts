import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import postgres, { type Sql } from 'postgres';
import { migrate, shippedMigrations, type Migrations } from '../database/migrate.ts';
import { inSchema } from '../database/schema.ts';

export interface TestDatabase extends AsyncDisposable {
  url: string;
}

/** Adds a schema to the URL that is not the default of any service, so that a statement that names a schema fails. */
export const inTestSchema = (url: string): string => inSchema(url, 'tested');

const withDatabase = (url: string, name: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return inTestSchema(changed.href);
};

/** The template database for these migrations. Test files with the same migrations share it. */
const templateName = (migrations: Migrations): string => {
  const hash = createHash('sha256').update(shippedMigrations(migrations).join('\n')).digest('hex');
  return `template_${hash.slice(0, 16)}`;
};

const openAdmin = (serverUrl: string, idleSeconds?: number): Sql =>
  postgres(serverUrl, { max: 1, idle_timeout: idleSeconds, fetch_types: false, onnotice: () => undefined });

/** Server URL → connection of this process that creates and drops databases. Closes when it is idle. */
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

/** The servers of a database: all nodes if the server is the coordinator of a Citus cluster, else only the server itself. */
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

/** Connects the new, empty database on all nodes to a cluster. */
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

/** Creates the template unless it exists. Other processes that need it wait. */
const createTemplate = async (serverUrl: string, template: string, migrations: Migrations): Promise<void> => {
  // Never closed while idle, because the lock ends with the connection.
  const sql = openAdmin(serverUrl);
  try {
    await sql`select pg_advisory_lock(hashtext(${template}))`;
    const [existing] = await sql`select 1 from pg_database where datname = ${template} and datistemplate`;
    if (existing) return;
    await onNodes(serverUrl, async (admin) => {
      await admin`drop database if exists ${admin(template)}`;
      await admin`create database ${admin(template)}`;
    });
    const [coordinator = '', ...workers] = (await nodesOf(serverUrl)).map((node) =>
      withDatabase(node, template),
    );
    if (workers.length > 0) await joinDatabase(coordinator, workers);
    await migrate(withDatabase(serverUrl, template), migrations);
    // Moves the schema to one of the workers.
    if (workers.length > 0)
      await inDatabase(coordinator, (sql) => sql`select citus_schema_distribute('tested')`);
    await onNodes(serverUrl, async (admin) => {
      await admin`alter database ${admin(template)} allow_connections false`;
      // A pooler and Citus may still hold connections.
      await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${template}`;
    });
    await sql`alter database ${sql(template)} is_template true`;
  } finally {
    await sql.end();
  }
};

/** Server URL and name → template that this process has created or found. */
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
 * Creates a database for one test file. It is cloned in some 30 ms from a template with `migrations`, and dropped on disposal.
 * `serverUrl` must be the URL of a superuser.
 */
export const cloneDatabase = async (serverUrl: string, migrations: Migrations): Promise<TestDatabase> => {
  const template = templateName(migrations);
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await provideTemplate(serverUrl, template, migrations);
  await onNodes(serverUrl, async (admin) => {
    // Copying files takes less CPU time than the default strategy, which writes all pages to the WAL.
    await admin`create database ${admin(name)} template ${admin(template)} strategy file_copy`;
    // As in production: triggers on a Citus worker use only this search_path.
    await admin`alter database ${admin(name)} set search_path = tested, extensions`;
  });
  const isCluster = (await nodesOf(serverUrl)).length > 1;
  return {
    url: withDatabase(serverUrl, name),
    [Symbol.asyncDispose]: () =>
      onNodes(serverUrl, async (admin) => {
        const dropped = admin`drop database if exists ${admin(name)} with (force)`;
        // Dropping may fail, because Citus keeps reopening its own connection.
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
