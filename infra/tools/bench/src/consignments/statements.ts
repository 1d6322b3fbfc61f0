import { pageSettings, readPage, withPageSettings } from '@platform/pagination/directory';
import { openDatabase } from '@platform/service-kit/db';
import { consignmentDirectory } from 'consignments/directories';
import postgres, { type Sql } from 'postgres';
import { median, repeat } from '../figure.ts';
import { pgbench } from '../pgbench.ts';
import { size } from './million.ts';

/** The same list as an SQL condition and as a filter of the page directory. */
export interface Narrowed {
  where: string;
  filter?: { column: string; value: string | number };
}

/** Milliseconds of a page with its total: with OFFSET and count(*), and with the page directory. */
export interface Times {
  plain: number;
  ours: number;
}

const plainOf = ({ where }: Narrowed, offset: number): string[] => [
  `select count(*) from consignments where ${where}`,
  `select * from consignments where ${where} order by created_at desc, id desc limit ${size} offset ${offset}`,
];

const readOurs = (sql: Sql, { filter }: Narrowed, offset: number) =>
  readPage(sql, consignmentDirectory, { offset: BigInt(offset), limit: size, ...(filter && { filter }) });

/** By the driver as the services set it up, with what it takes to make objects of the rows. */
export const inDriver = async (url: string, list: Narrowed, offset: number): Promise<Times> => {
  await using database = openDatabase({ url: withPageSettings(url), name: 'bench', max: 1 });
  const { sql } = database;
  const timed = async (read: () => Promise<unknown>) => {
    const start = performance.now();
    await read();
    return performance.now() - start;
  };
  const ours = () => timed(() => readOurs(sql, list, offset));
  const plain = () =>
    timed(async () => {
      for (const statement of plainOf(list, offset)) await sql.unsafe(statement, [], { prepare: true });
    });
  await repeat(200, ours);
  // Alternately, because the speed of a shared machine changes from second to second.
  const rounds = await repeat(5, async () => ({
    plain: await repeat(2, plain),
    ours: await repeat(50, ours),
  }));
  return {
    plain: median(rounds.flatMap((round) => round.plain)),
    ours: median(rounds.flatMap((round) => round.ours)),
  };
};

/** The statement that `readPage` sends, with its parameters in place. */
const oursOf = async (url: string, list: Narrowed, offset: number): Promise<string> => {
  const sent: string[] = [];
  const literal = (value: string | number | boolean | null = null) =>
    value === null ? 'null' : `'${value}'`;
  const sql = postgres(url, {
    max: 1,
    fetch_types: false,
    debug: (_connection, query, parameters: (string | number | boolean | null)[]) => {
      sent.push(query.replaceAll(/\$(\d+)/g, (_match, place) => literal(parameters[Number(place) - 1])));
    },
  });
  await readOurs(sql, list, offset);
  await sql.end();
  const [statement, ...more] = sent;
  if (statement === undefined || more.length > 0) throw new Error(`a page took ${sent.length} statements`);
  return statement.replaceAll(/\s+/g, ' ');
};

/** The statements alone, prepared once, with their round trips: measured by pgbench. */
export const inDatabase = async (url: string, list: Narrowed, offset: number): Promise<Times> => {
  const each = async (statements: string[], settings: Record<string, string>) => {
    const script = statements.map((statement) => `${statement};\n`).join('');
    const set = new URL(url);
    const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
    if (options.length > 0) set.search = `options=${encodeURIComponent(options.join(' '))}`;
    return 1000 / (await pgbench(set.href, { script, connections: 1, seconds: 2, protocol: 'prepared' }));
  };
  return {
    plain: await each(plainOf(list, offset), {}),
    ours: await each([await oursOf(url, list, offset)], pageSettings),
  };
};
