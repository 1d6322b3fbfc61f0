import { ValidationFailed } from '@platform/service-kit/problem';
import type { Sql } from 'postgres';

/**
 * Throws ValidationFailed unless PostgreSQL has the time zone. It reads the files of all of them to list their names, so a
 * process asks once.
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
    const known = await names.catch((error: unknown) => {
      names = undefined;
      throw error;
    });
    if (!known.has(zone))
      throw new ValidationFailed({ tz: ['must be an IANA time zone such as Europe/Berlin'] });
  };
};
