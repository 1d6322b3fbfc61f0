import fc from 'fast-check';
import type { Sql, TransactionSql } from 'postgres';
import type { Directory } from '../src/directory/index.ts';
import { fold, mergeBuckets, rebuild } from '../src/directory/maintain.ts';
import { asTransaction } from './database.ts';
import { kinds, owners } from './lists.ts';
import type { TestRequest } from './same-as-offset.ts';

/** Few instants, so that many rows share one and the id decides their order. */
const start = Date.UTC(2024, 0, 1);
export const instants = Array.from({ length: 12 }, (_, index) => new Date(start + index).toISOString());

const instant = fc.constantFrom(...instants);
const kind = fc.option(fc.constantFrom(...kinds));
const row = fc.record({ id: fc.uuid(), changed_at: instant, owner: fc.constantFrom(...owners), kind });

type Statement = (sql: Sql, directory: Directory, inTransaction: boolean) => PromiseLike<unknown>;

/** An action of a session; a failing history is printed with `name` and `input`. */
export interface Action {
  name: string;
  input?: unknown;
  run: Statement;
}

const action = <T>(
  name: string,
  input: fc.Arbitrary<T>,
  run: (sql: Sql, directory: Directory, input: T) => PromiseLike<unknown>,
) =>
  input.map((value): Action => ({ name, input: value, run: (sql, directory) => run(sql, directory, value) }));

const sameStatement = (name: string, statement: string): fc.Arbitrary<Action> =>
  fc.constant({
    name,
    run: (sql, { name: table }) => sql.unsafe(statement.replaceAll('LIST', table)),
  });

/** The rows that a statement changes: about one in `divisor`, or all of one instant. */
const selections = fc.oneof(
  fc.record({ divisor: fc.integer({ min: 1, max: 5 }), remainder: fc.nat(4) }),
  fc.record({ at: instant }),
);

const isSelected = (sql: Sql, selection: { divisor: number; remainder: number } | { at: string }) =>
  'at' in selection
    ? sql`changed_at = ${selection.at}`
    : sql`abs(hashtext(id::text)) % ${selection.divisor} = ${selection.remainder % selection.divisor}`;

const writes: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: action(
      'insert',
      fc.array(row, { minLength: 1, maxLength: 15 }),
      (sql, { name: table }, rows) => sql`
      insert into ${sql(table)} ${sql(rows)}`,
    ),
  },
  {
    weight: 2,
    arbitrary: action(
      'move',
      fc.record({ selection: selections, to: instant }),
      (sql, { name: table }, { selection, to }) => sql`
      update ${sql(table)} set changed_at = ${to} where ${isSelected(sql, selection)}`,
    ),
  },
  {
    weight: 2,
    arbitrary: action(
      'relabel',
      fc.record({ selection: selections, kind }),
      (sql, { name: table }, { selection, kind: to }) => sql`
      update ${sql(table)} set kind = ${to} where ${isSelected(sql, selection)}`,
    ),
  },
  action(
    'annotate',
    selections,
    (sql, { name: table }, selection) => sql`
    update ${sql(table)} set note = note || '.' where ${isSelected(sql, selection)}`,
  ),
  action(
    'rename',
    selections,
    (sql, { name: table }, selection) => sql`
    update ${sql(table)} set id = gen_random_uuid() where ${isSelected(sql, selection)}`,
  ),
  {
    weight: 2,
    arbitrary: action(
      'delete',
      selections,
      (sql, { name: table }, selection) => sql`
    delete from ${sql(table)} where ${isSelected(sql, selection)}`,
    ),
  },
  action(
    'upsert',
    fc.record({ row, kind }),
    (sql, { name: table }, { row: newRow, kind: to }) => sql`
    insert into ${sql(table)}
    select * from ${sql(table)} union all
    select ${newRow.id}, ${newRow.changed_at}, ${newRow.owner}, ${newRow.kind}::int, ''
    on conflict (id) do update set kind = ${to}`,
  ),
  action(
    'merge',
    selections,
    (sql, { name: table }, selection) => sql`
    merge into ${sql(table)} list using (select * from ${sql(table)} where ${isSelected(sql, selection)}) other
    on list.id = other.id and list.kind = 1
    when matched and list.note = '' then update set kind = 2
    when matched then delete
    when not matched then insert values (gen_random_uuid(), other.changed_at, other.owner, 0, '')`,
  ),
  sameStatement('truncate', 'truncate LIST'),
);

const transactions: fc.Arbitrary<Action> = fc.oneof(
  { weight: 3, arbitrary: sameStatement('begin', 'begin') },
  sameStatement('begin repeatable read', 'begin isolation level repeatable read'),
  { weight: 3, arbitrary: sameStatement('commit', 'commit') },
  { weight: 2, arbitrary: sameStatement('rollback', 'rollback') },
  sameStatement('savepoint', 'savepoint here'),
  sameStatement('rollback to savepoint', 'rollback to savepoint here'),
);

/** Inside a transaction the session counts its own changes as well. */
const maintenanceAction = (
  name: string,
  work: (sql: Sql | TransactionSql, directory: Directory) => Promise<unknown>,
): fc.Arbitrary<Action> =>
  fc.constant({
    name,
    run: (sql, directory, inTransaction) => work(inTransaction ? asTransaction(sql) : sql, directory),
  });

const maintenance: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: maintenanceAction('fold', fold) },
  { weight: 2, arbitrary: maintenanceAction('merge buckets', mergeBuckets) },
  maintenanceAction('rebuild', rebuild),
);

export const sessions = 4;

/** The next action of one of the sessions. */
export const step = fc.record({
  session: fc.nat(sessions - 1),
  action: fc.oneof(
    { weight: 4, arbitrary: writes },
    { weight: 3, arbitrary: transactions },
    { weight: 2, arbitrary: maintenance },
  ),
});

export const pageRequest: fc.Arbitrary<TestRequest> = fc
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
  .map(({ filter, since, ...window }) => ({
    ...window,
    ...(filter ? { filter } : {}),
    ...(since === null ? {} : { since }),
  }));
