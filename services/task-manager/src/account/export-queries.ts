import { jsonTable } from '@platform/service-kit/json-table';
import type { Queries } from '@platform/service-kit/record';
import { orNotFound } from '@platform/service-kit/record-versions';
import { profiles } from '../auth/use-cases.ts';
import { Export } from './export-schema.ts';

/** Rows that are in memory at a time, unless a part says otherwise; a task may have 60 kB. */
const usualRows = 100;

/** Where the rows of a user are; `$1` is the user. */
interface Part {
  table: string;
  where?: string;
  /** The column, or SQL, that identifies a row of the user, and the type and the least value of it. */
  key?: string;
  least?: string;
  atOnce?: number;
  columns?: Record<string, string>;
}

const leastUuid = "'00000000-0000-0000-0000-000000000000'::uuid";
const leastText = "''::text";

const parts: Record<Exclude<keyof typeof Export.shape, 'profile'>, Part> = {
  sessions: { table: 'sessions' },
  knownNetworks: { table: 'known_networks', key: 'network', least: leastText },
  securityEvents: {
    table: 'security_events',
    key: "concat_ws(' ', extract(epoch from day), kind, network, browser)",
    least: leastText,
  },
  lists: {
    table: 'list_members',
    key: 'list_id',
    columns: { name: '(select name from lists where id = list_id)' },
  },
  tasks: { table: 'tasks', where: 'owner_id = $1' },
  keptAnswers: {
    table: 'idempotency_keys',
    where: 'owner = $1::text',
    key: 'key',
    least: leastText,
    // That of a batch may have megabytes.
    atOnce: 1,
  },
  mails: {
    table: 'mails',
    where: '(sender = $1 or owner = (select md5(users.email)::uuid from users where users.id = $1))',
  },
};

/**
 * Everything that is stored about a user, as one JSON file in pieces that are read when they are taken. Secrets and their
 * hashes are left out. What changes meanwhile may be there or not.
 */
export async function* exportOf(sql: Queries, userId: string): AsyncGenerator<string> {
  yield `{"profile":${orNotFound(await profiles.find(sql, { id: userId }, false), 'user')}`;
  for (const [
    name,
    { table, where = 'user_id = $1', key = 'id', least = leastUuid, atOnce = usualRows, columns },
  ] of Object.entries(parts)) {
    const fields = Object.keys(Export.shape[name as keyof typeof parts].element.shape);
    const { json } = jsonTable(table, fields, columns);
    const read = (after: string | null) =>
      sql.unsafe<{ key: string; json: string }[]>(
        `select (${key})::text as key, ${json} from ${table}
         where ${where} and ${key} > coalesce($2, ${least}) order by ${key} limit ${atOnce}`,
        [userId, after],
      );
    yield `,"${name}":[`;
    let after: string | null | undefined = null;
    while (after !== undefined) {
      const rows: { key: string; json: string }[] = await read(after);
      if (rows.length > 0) yield `${after === null ? '' : ','}${rows.map((row) => row.json).join(',')}`;
      after = rows.length < atOnce ? undefined : rows.at(-1)?.key;
    }
    yield ']';
  }
  yield '}\n';
}
