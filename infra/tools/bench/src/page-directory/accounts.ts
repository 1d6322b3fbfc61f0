import { setTimeout as wait } from 'node:timers/promises';
import { startPostgres } from '@platform/local/postgres';
import {
  defineDirectory,
  fold,
  installSql,
  pageSettings,
  readPage,
  rebuild,
  uninstallSql,
} from '@platform/pagination/directory';
import postgres, { type Sql } from 'postgres';
import { atLeast } from '../bounds.ts';
import { median, repeat, type Figure } from '../figure.ts';

/** The table that `pgbench -i -s 10` makes: one that knows nothing of the directory. */
const accounts = defineDirectory({ table: 'pgbench_accounts', key: ['aid'], filters: { bid: 'integer' } });
const rows = 1_000_000;
const limit = 25;

const createAccounts = async (sql: Sql): Promise<void> => {
  await sql.unsafe(`
    create table pgbench_accounts (aid integer not null, bid integer, abalance integer, filler char(84)) with (fillfactor = 100);
    insert into pgbench_accounts select i, (i - 1) / 100000 + 1, 0, '' from generate_series(1, ${rows}) i;
    alter table pgbench_accounts add primary key (aid);
    create index on pgbench_accounts (bid, aid)`);
  await sql`vacuum analyze pgbench_accounts`;
};

const timed = async (work: () => PromiseLike<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

/** Milliseconds of the last page with its total, ours and plain in turn. */
const lastPage = async (sql: Sql, bid?: number) => {
  const where = bid === undefined ? sql`true` : sql`bid = ${bid}`;
  const filter = bid === undefined ? {} : { filter: { column: 'bid', value: bid } };
  const { total } = await readPage(sql, accounts, { ...filter, offset: 0n, limit });
  const offset = total - limit;
  const ours = () => readPage(sql, accounts, { ...filter, offset: BigInt(offset), limit });
  const plain = () => sql`
    select *, (select count(*) from pgbench_accounts where ${where}) as total from pgbench_accounts
    where ${where} order by aid offset ${offset} limit ${limit}`;
  const rounds = await repeat(5, async () => ({
    plain: await timed(plain),
    ours: median(await repeat(50, () => timed(ours))),
  }));
  return rounds;
};

/** Rows a second of eight connections, `batch` rows a transaction, each after the highest key there is. */
const insertRate = async (sql: Sql, batch: number): Promise<number> => {
  const end = performance.now() + 3000;
  let inserted = 0;
  const write = async () => {
    const own = await sql.reserve();
    for (; performance.now() < end; inserted += batch) {
      await own`insert into pgbench_accounts select nextval('aids'), i % 10 + 1, 0, ''
        from generate_series(1, ${batch}::int) i`;
    }
    own.release();
  };
  await Promise.all(Array.from({ length: 8 }, write));
  return inserted / 3;
};

const insertFigure = async (sql: Sql, url: string, batch: number, least: number): Promise<Figure> => {
  const folding = postgres(url, { max: 1 });
  const rates = await repeat(7, async () => {
    await sql`alter table pgbench_accounts enable trigger user`;
    let running = true;
    const folds = (async () => {
      for (; running; await wait(250)) await fold(folding, accounts);
    })();
    const kept = await insertRate(sql, batch);
    running = false;
    await folds;
    await sql`alter table pgbench_accounts disable trigger user`;
    return { kept, bare: await insertRate(sql, batch) };
  });
  await folding.end();
  return {
    what: `pgbench_accounts: inserts at 8 connections with the directory against without, ${batch} rows a transaction`,
    bound: `≥ ${least} ×`,
    samples: rates.map(({ kept, bare }) => kept / bare),
    unit: '×',
    holds: atLeast(least),
    note: rates.map(({ kept, bare }) => `${kept.toFixed(0)}/${bare.toFixed(0)}`).join('; '),
  };
};

/** The directory on the table of pgbench. */
export const accountFigures = async (): Promise<Figure[]> => {
  const server = await startPostgres({ durable: true });
  const sql = postgres(server.url, { max: 8, connection: pageSettings, onnotice: () => undefined });
  const owner = postgres(server.url, { max: 1, onnotice: () => undefined });
  try {
    await createAccounts(owner);
    await owner.unsafe(`${installSql(accounts)}; create sequence aids start ${rows + 1} cache 100`);
    await rebuild(owner, accounts);
    const pages: Figure[] = [];
    for (const [name, bid] of [
      ['the whole table', undefined],
      ['one bid', 7],
    ] as const) {
      const rounds = await lastPage(sql, bid);
      pages.push({
        what: `pgbench_accounts, ${name}: last page, OFFSET and count(*) against ours`,
        bound: bid === undefined ? '≥ 100 ×' : '–',
        samples: rounds.map(({ plain, ours }) => plain / ours),
        unit: '×',
        holds: atLeast(bid === undefined ? 100 : 0),
        note: `${median(rounds.map(({ plain }) => plain)).toFixed(1)} against ${median(rounds.map(({ ours }) => ours)).toFixed(2)} ms`,
      });
    }
    const inserts = [
      await insertFigure(sql, server.url, 1, 0.75),
      await insertFigure(sql, server.url, 500, 0.7),
    ];
    await owner.unsafe(uninstallSql(accounts));
    return [...pages, ...inserts];
  } finally {
    await sql.end();
    await owner.end();
    await server.stop();
  }
};
