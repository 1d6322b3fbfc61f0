import { cp, rm, stat, writeFile, chown } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres } from '@platform/local/postgres';
import { freePort } from '@platform/local/ports';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../src/database/database.ts';
import { transientFault } from '../src/database/database-error.ts';
import { Unavailable } from '../src/http/problem.ts';
import { withDeadline } from '../src/overload/request-scope.ts';
import { startProxy } from '../src/testing/index.ts';

type Server = Awaited<ReturnType<typeof startPostgres>>;

/** A primary, a standby that is a copy of it, and a port without a listener. */
let primary: Server;
let standby: Server;
let closedPort: number;

const settings = { wal_level: 'replica', max_wal_senders: '5' };

beforeAll(async () => {
  closedPort = await freePort();
  primary = await startPostgres({ durable: true, settings });
  const sql = postgres(primary.url, { max: 1 });
  await sql`checkpoint`;
  await sql.end();
  await primary.kill9();
  standby = await startPostgres({
    durable: true,
    settings,
    password: new URL(primary.url).password,
    createData: async (dataDir) => {
      await cp(primary.dataDir, dataDir, { recursive: true });
      await rm(join(dataDir, 'postmaster.pid'), { force: true });
      const file = join(dataDir, 'standby.signal');
      await writeFile(file, '');
      const { uid, gid } = await stat(primary.dataDir);
      await chown(file, uid, gid);
    },
  });
  await primary.restart();
});

afterAll(async () => {
  await primary.stop();
  await standby.stop();
});

/** Opens a pool with these ports of 127.0.0.1 that uses the one that accepts writes. */
const openAt = (ports: number[], statementTimeoutMs = 5000) => {
  const url = new URL(primary.url);
  url.searchParams.set('host', ports.map(() => '127.0.0.1').join());
  url.searchParams.set('port', ports.join());
  url.searchParams.set('target_session_attrs', 'read-write');
  return openDatabase({ url: url.href, name: 'hosts', max: 2, statementTimeoutMs });
};
const portOf = ({ url }: Server): number => Number(new URL(url).port);

test.each([
  ['first', () => [portOf(primary), portOf(standby), closedPort]],
  ['last', () => [closedPort, portOf(standby), portOf(primary)]],
])('statements go to the host that accepts writes if it is the %s', async (_, ports) => {
  await using database = openAt(ports());
  const rows = await Promise.all(
    [1, 2, 3].map(
      () => database.sql`select current_setting('port')::int as port, pg_is_in_recovery() as reads`,
    ),
  );
  expect(rows.flat()).toEqual([1, 2, 3].map(() => ({ port: portOf(primary), reads: false })));
});

test('a statement past its deadline is cancelled on the host that runs it', async () => {
  await using database = openAt([portOf(standby), portOf(primary)], 120_000);
  const tooSlow = () => new Unavailable('too_slow', 'Too slow.');
  const slow = withDeadline(200, tooSlow, async () => database.sql`select pg_sleep(60)`);
  await expect(slow).rejects.toMatchObject({ code: 'too_slow' });
  await expect.poll(() => database.connections()).toEqual([expect.objectContaining({ state: 'idle' })]);
});

test('a commit that its synchronous standby does not confirm has an unknown outcome', async () => {
  await using database = openAt([portOf(primary)], 500);
  const { sql } = database;
  await sql`create table waits (a int)`;
  await sql`alter system set synchronous_standby_names = 'nobody'`;
  await sql`select pg_reload_conf()`;
  const tooSlow = () => new Unavailable('too_slow', 'Too slow.');
  const codeOf = (write: () => Promise<unknown>) =>
    withDeadline(200, tooSlow, write).then(
      () => 'committed',
      (error: unknown) => [(error as { code?: string }).code, transientFault(error)],
    );
  try {
    // The server needs a moment to apply the setting.
    await expect.poll(() => codeOf(async () => sql`insert into waits values (1)`)).toEqual(['08007', 'lost']);
    // The commit of a transaction is not cancelled; its connection closes if no answer arrives.
    const inTransaction = codeOf(() => sql.begin((tx) => tx`insert into waits values (1)`));
    expect(await inTransaction).toEqual(['CONNECTION_DESTROYED', 'lost']);
  } finally {
    await sql`alter system reset synchronous_standby_names`;
    await sql`select pg_reload_conf()`;
  }
});

test('while no host accepts writes each statement is refused; later ones find the host that does', async () => {
  await using database = openAt([closedPort, portOf(standby), portOf(primary)]);
  const { sql } = database;
  await sql`select 1`;
  await primary.kill9();
  const refused = async () => transientFault(await sql`select 1`.catch((error: unknown) => error));
  await expect.poll(refused).toBe('unavailable');
  // More statements than connections: none may wait forever.
  expect(await Promise.all([1, 2, 3, 4, 5].map(refused))).toEqual(Array(5).fill('unavailable'));
  const promoting = postgres(standby.url, { max: 1 });
  await promoting`select pg_promote()`;
  await promoting.end();
  const port = async () => (await sql`select current_setting('port')::int as port`)[0]?.['port'];
  await expect.poll(() => port().catch(() => undefined)).toBe(portOf(standby));
});

test('when a connection does not answer, idle ones are closed too', async () => {
  await using proxy = await startProxy(standby.url);
  await using database = openDatabase({ url: proxy.url, name: 'cut-off', max: 4, statementTimeoutMs: 200 });
  const { sql } = database;
  await Promise.all([1, 2, 3, 4].map(() => sql`select pg_sleep(0.1)`));
  proxy.freezeOpen();
  const lost = await sql`select 1`.catch((error: unknown) => error);
  expect(transientFault(lost)).toBe('lost');
  // More statements than connections: none may use one of the old connections.
  for (const n of [1, 2, 3, 4, 5]) expect(await sql`select ${n}::int as n`).toEqual([{ n }]);
});
