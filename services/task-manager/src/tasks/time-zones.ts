import { ValidationFailed } from '@platform/service-kit/problem';
import type { Sql } from 'postgres';

/**
 * Creates a function that throws ValidationFailed unless PostgreSQL knows the time zone. PostgreSQL reads the files of all time
 * zones to list their names, so a process asks only once.
 */
export const createTimeZones = (sql: Sql) => {
  let names: Promise<ReadonlySet<string>> | undefined;
  const readNames = async () => {
    const rows = await sql<{ name: string }[]>`select name from pg_timezone_names`;
    return new Set(rows.map(({ name }) => name));
  };
  return async (zone: string | undefined): Promise<void> => {
    if (zone === undefined) return;
    names ??= readNames();
    const knownNames = await names.catch((error: unknown) => {
      names = undefined;
      throw error;
    });
    if (!knownNames.has(zone))
      throw new ValidationFailed({ tz: ['must be an IANA time zone such as Europe/Berlin'] });
  };
};
