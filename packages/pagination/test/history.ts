import fc from 'fast-check';
import type { Sql, TransactionSql } from 'postgres';
import type { Directory } from '../src/directory/index.ts';
import { fold, mergeBuckets, rebuild } from '../src/directory/maintain.ts';
import { inItsTransaction } from './database.ts';
import { kinds, owners } from './lists.ts';
import type { Question } from './same-as-offset.ts';

/** Few instants, so that many rows share one and the id decides their order. */
const start = Date.UTC(2024, 0, 1);
export const instants = Array.from({ length: 12 }, (_, index) => new Date(start + index).toISOString());

const instant = fc.constantFrom(...instants);
const kind = fc.option(fc.constantFrom(...kinds));
const row = fc.record({ id: fc.uuid(), changed_at: instant, owner: fc.constantFrom(...owners), kind });

type Statement = (sql: Sql, directory: Directory, within: boolean) => PromiseLike<unknown>;

/** Something a session does; `name` and `input` are what a failing history is printed with. */
export interface Act {
  name: string;
  input?: unknown;
  run: Statement;
}

const act = <T>(
  name: string,
  input: fc.Arbitrary<T>,
  run: (sql: Sql, directory: Directory, input: T) => PromiseLike<unknown>,
) => input.map((given): Act => ({ name, input: given, run: (sql, directory) => run(sql, directory, given) }));

const bare = (name: string, statement: string): fc.Arbitrary<Act> =>
  fc.constant({
    name,
    run: (sql, { name: table }) => sql.unsafe(statement.replaceAll('LIST', table)),
  });

/** Which rows a statement is about: about one in `of`, or all of one instant. */
const some = fc.oneof(
  fc.record({ of: fc.integer({ min: 1, max: 5 }), rest: fc.nat(4) }),
  fc.record({ at: instant }),
);

const chosen = (sql: Sql, which: { of: number; rest: number } | { at: string }) =>
  'at' in which
    ? sql`changed_at = ${which.at}`
    : sql`abs(hashtext(id::text)) % ${which.of} = ${which.rest % which.of}`;

const writes: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: act(
      'insert',
      fc.array(row, { minLength: 1, maxLength: 15 }),
      (sql, { name: table }, rows) => sql`
      insert into ${sql(table)} ${sql(rows)}`,
    ),
  },
  {
    weight: 2,
    arbitrary: act(
      'move',
      fc.record({ some, to: instant }),
      (sql, { name: table }, { some: which, to }) => sql`
      update ${sql(table)} set changed_at = ${to} where ${chosen(sql, which)}`,
    ),
  },
  {
    weight: 2,
    arbitrary: act(
      'relabel',
      fc.record({ some, kind }),
      (sql, { name: table }, { some: which, kind: to }) => sql`
      update ${sql(table)} set kind = ${to} where ${chosen(sql, which)}`,
    ),
  },
  act(
    'annotate',
    some,
    (sql, { name: table }, which) => sql`
    update ${sql(table)} set note = note || '.' where ${chosen(sql, which)}`,
  ),
  act(
    'rename',
    some,
    (sql, { name: table }, which) => sql`
    update ${sql(table)} set id = gen_random_uuid() where ${chosen(sql, which)}`,
  ),
  {
    weight: 2,
    arbitrary: act(
      'delete',
      some,
      (sql, { name: table }, which) => sql`
    delete from ${sql(table)} where ${chosen(sql, which)}`,
    ),
  },
  act(
    'upsert',
    fc.record({ row, kind }),
    (sql, { name: table }, { row: given, kind: to }) => sql`
    insert into ${sql(table)}
    select * from ${sql(table)} union all
    select ${given.id}, ${given.changed_at}, ${given.owner}, ${given.kind}::int, ''
    on conflict (id) do update set kind = ${to}`,
  ),
  act(
    'merge',
    some,
    (sql, { name: table }, which) => sql`
    merge into ${sql(table)} list using (select * from ${sql(table)} where ${chosen(sql, which)}) other
    on list.id = other.id and list.kind = 1
    when matched and list.note = '' then update set kind = 2
    when matched then delete
    when not matched then insert values (gen_random_uuid(), other.changed_at, other.owner, 0, '')`,
  ),
  bare('truncate', 'truncate LIST'),
);

const transactions: fc.Arbitrary<Act> = fc.oneof(
  { weight: 3, arbitrary: bare('begin', 'begin') },
  bare('begin repeatable read', 'begin isolation level repeatable read'),
  { weight: 3, arbitrary: bare('commit', 'commit') },
  { weight: 2, arbitrary: bare('rollback', 'rollback') },
  bare('savepoint', 'savepoint here'),
  bare('rollback to savepoint', 'rollback to savepoint here'),
);

/** Inside a transaction the session counts its own changes as well. */
const maintenance = (
  name: string,
  work: (sql: Sql | TransactionSql, directory: Directory) => Promise<unknown>,
): fc.Arbitrary<Act> =>
  fc.constant({
    name,
    run: (sql, directory, within) => work(within ? inItsTransaction(sql) : sql, directory),
  });

const upkeep: fc.Arbitrary<Act> = fc.oneof(
  { weight: 5, arbitrary: maintenance('fold', fold) },
  { weight: 2, arbitrary: maintenance('merge buckets', mergeBuckets) },
  maintenance('rebuild', rebuild),
);

export const sessions = 4;

/** What one of the sessions does next. */
export const step = fc.record({
  session: fc.nat(sessions - 1),
  act: fc.oneof(
    { weight: 4, arbitrary: writes },
    { weight: 3, arbitrary: transactions },
    { weight: 2, arbitrary: upkeep },
  ),
});

export const question: fc.Arbitrary<Question> = fc
  .record({
    filter: fc.option(
      fc.oneof(
        fc.record({ column: fc.constant('owner'), value: fc.constantFrom(...owners) }),
        fc.record({ column: fc.constant('kind'), value: fc.constantFrom(...kinds, 7) }),
      ),
    ),
    since: fc.option(instant),
    offset: fc.nat(60),
    limit: fc.integer({ min: 1, max: 12 }),
  })
  .map(({ filter, since, ...rest }) => ({
    ...rest,
    ...(filter ? { filter } : {}),
    ...(since === null ? {} : { since }),
  }));
