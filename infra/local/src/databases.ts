import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { ROOT } from './options.ts';
import type { Service } from './services.ts';

/**
 * A file of infra/deploy/postgres with psql's variables replaced: `:"name"` by an identifier, `:'name'` by a literal.
 * @throws when the file needs a variable that was not given
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

/** How a service reaches its database. */
export interface DatabaseUrls {
  /** Run-time role: reads and writes rows, changes no table. */
  run: string;
  /** Owner of the tables: migrations and demo data. */
  own: string;
}

const connect = (url: string) =>
  postgres(url, {
    max: 1,
    onnotice: () => {},
    // Statements contain passwords, so a failing one must not be logged by the server, whose settings may be others than ours.
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

/** Closes the databases that every server has to all but its superuser. */
export const restrictDefaultDatabases = async (serverUrl: string): Promise<void> => {
  const sql = connect(serverUrl);
  await sql.unsafe(readSql('server.sql')).finally(() => sql.end());
};

const at = (serverUrl: string, database: string, role?: string, password?: string): string => {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  if (role) url.username = role;
  if (password) url.password = password;
  return url.href;
};

/**
 * Creates the database and the two roles of each service unless they exist, and sets the passwords. Repeatable.
 * @param serverUrl a role that may create roles and databases
 */
export const ensureDatabases = async (
  serverUrl: string,
  services: readonly Pick<Service, 'name' | 'database'>[],
  passwords: (service: Pick<Service, 'name'>) => { run: string; own: string },
): Promise<Map<string, DatabaseUrls>> => {
  const urls = await Promise.all(
    services.map(async (service): Promise<[string, DatabaseUrls]> => {
      const { database: name } = service;
      const { run, own } = passwords(service);
      const sql = connect(serverUrl);
      try {
        await ensureRole(sql, `${name}_owner`, own);
        await ensureRole(sql, name, run);
        await ensureDatabase(sql, name);
      } finally {
        await sql.end();
      }
      const inside = connect(at(serverUrl, name));
      const grants = readSql('grants.sql', { name, owner: `${name}_owner` });
      await inside.unsafe(grants).finally(() => inside.end());
      return [
        service.name,
        { run: at(serverUrl, name, name, run), own: at(serverUrl, name, `${name}_owner`, own) },
      ];
    }),
  );
  return new Map(urls);
};
