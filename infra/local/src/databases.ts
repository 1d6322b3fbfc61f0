import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { ROOT } from './options.ts';
import type { Service } from './services.ts';

/**
 * Reads a file of infra/deploy/postgres and replaces psql's variables: `:"name"` by an identifier, `:'name'` by a literal.
 * @throws if the file uses a variable without a value
 */
export const readSql = (file: string, variables: Record<string, string> = {}): string => {
  const value = (name: string): string => {
    const text = variables[name];
    if (text === undefined) throw new Error(`${file} needs the variable ${name}`);
    return text;
  };
  return readFileSync(join(ROOT, 'infra/deploy/postgres', file), 'utf8')
    .replaceAll(/:"(\w+)"/g, (_, name: string) => `"${value(name).replaceAll('"', '""')}"`)
    .replaceAll(/:'(\w+)'/g, (_, name: string) => `'${value(name).replaceAll("'", "''")}'`);
};

/** URLs of the database of a service, one for each role. */
export interface DatabaseUrls {
  /** Role of the running service: reads and writes rows but cannot change tables. */
  runtime: string;
  /** Owner of the tables, for migrations and demo data. */
  owner: string;
}

const connect = (url: string) =>
  postgres(url, {
    max: 1,
    onnotice: () => {},
    // Statements contain passwords, so the server must not log a failing one, whatever its own settings are.
    connection: { log_min_error_statement: 'panic' },
  });

type Sql = ReturnType<typeof connect>;

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const ensureRole = async (sql: Sql, role: string, password: string): Promise<void> => {
  const [existing] = await sql`select from pg_roles where rolname = ${role}`;
  await sql.unsafe(`${existing ? 'alter' : 'create'} role "${role}" login password ${quoted(password)}`);
};

const ensureDatabase = async (sql: Sql, name: string): Promise<void> => {
  const [existing] = await sql`select from pg_database where datname = ${name}`;
  if (!existing) await sql.unsafe(`create database "${name}" owner "${name}_owner"`);
};

/** Only the superuser may connect to the default databases of the server after this. */
export const restrictDefaultDatabases = async (serverUrl: string): Promise<void> => {
  const sql = connect(serverUrl);
  await sql.unsafe(readSql('server.sql')).finally(() => sql.end());
};

const databaseUrl = (serverUrl: string, database: string, role?: string, password?: string): string => {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  if (role) url.username = role;
  if (password) url.password = password;
  return url.href;
};

/**
 * Creates the database and the two roles of each service unless they exist, and sets the passwords. Repeatable.
 * @param serverUrl of a role that may create roles and databases
 */
export const ensureDatabases = async (
  serverUrl: string,
  services: readonly Pick<Service, 'name' | 'database'>[],
  passwords: (service: Pick<Service, 'name'>) => DatabaseUrls,
): Promise<Map<string, DatabaseUrls>> => {
  const urls = await Promise.all(
    services.map(async (service): Promise<[string, DatabaseUrls]> => {
      const { database: name } = service;
      const { runtime, owner } = passwords(service);
      const sql = connect(serverUrl);
      try {
        await ensureRole(sql, `${name}_owner`, owner);
        await ensureRole(sql, name, runtime);
        await ensureDatabase(sql, name);
      } finally {
        await sql.end();
      }
      const database = connect(databaseUrl(serverUrl, name));
      const grants = readSql('grants.sql', { name, owner: `${name}_owner` });
      await database.unsafe(grants).finally(() => database.end());
      return [
        service.name,
        {
          runtime: databaseUrl(serverUrl, name, name, runtime),
          owner: databaseUrl(serverUrl, name, `${name}_owner`, owner),
        },
      ];
    }),
  );
  return new Map(urls);
};
