import type { ISql } from 'postgres';
import { arrayOf, type Fragment } from '../db/sql.ts';
import type { Claimer } from '../worker/claim.ts';
import { keyBytes, keyRange, repeatKey } from './dedup.ts';
import type { Receipt, Stored } from './receipt.ts';

/**
 * All bodies as one parameter. As Latin-1 text, with one character per byte, it is half as long as in
 * the driver's hexadecimal format, which is used only if there is a NUL byte.
 */
const joined = (sql: ISql, bodies: readonly Buffer[]): Fragment => {
  const bytes = Buffer.concat(bodies);
  return bytes.includes(0) ? sql`${bytes}::bytea` : sql`convert_to(${bytes.toString('latin1')}, 'LATIN1')`;
};

/**
 * The start of a statement that inserts receipts into `events`; `new` are those that are not stored yet. A stored receipt
 * may have another key since: that of a repeat, or of an event that was refused first.
 */
const newEvents = (sql: ISql, receipts: readonly Receipt[]): Fragment => {
  const column = (of: (receipt: Receipt) => string | null) => arrayOf(receipts.map(of));
  let end = 1;
  const starts = receipts.map(({ body }) => ((end += body.length), end - body.length));
  return sql`
    with sent as materialized (
      select ${Buffer.concat(receipts.map(({ dedup }) => dedup))}::bytea as keys,
        ${joined(
          sql,
          receipts.map(({ body }) => body),
        )} as bodies),
    new as (
      insert into events (store_id, id, event, service, entity, dedup, body, headers, received_at)
      select store_id, id, event, service, entity, substring(keys from (n::int - 1) * ${keyBytes} + 1 for ${keyBytes}),
        substring(bodies from start for length), headers, to_timestamp(received / 1000.0)
      from sent, unnest(${column(({ storeId }) => storeId)}::uuid[], ${column(({ id }) => id)}::uuid[],
        ${column(({ event }) => event)}::text[], ${column(({ service }) => service)}::text[],
        ${column(({ entity }) => entity)}::text[], ${column(({ headers }) => JSON.stringify(headers))}::jsonb[],
        ${column(({ receivedAt }) => String(receivedAt.getTime()))}::bigint[],
        ${arrayOf(starts.map(String))}::int[], ${column(({ body }) => String(body.length))}::int[])
        with ordinality as given (store_id, id, event, service, entity, headers, received, start, length, n)
      on conflict do nothing
      returning store_id, id, coalesce(entity, id::text) as entity)`;
};

interface Inserted {
  id: string;
  isClaimed: boolean;
}

/**
 * Inserts pending receipts that are not stored yet, in one statement. With a claimer, those are claimed for it that are
 * the first of their entity in the queue; a statement does not see the other receipts that it inserts itself.
 */
const insertPending = (sql: ISql, receipts: readonly Receipt[], holdMs: number, claimer?: Claimer) => {
  const [keepMs, worker] = claimer === undefined ? [null, null] : [claimer.keepMs, claimer.worker];
  return sql<Inserted[]>`
    ${newEvents(sql, receipts)}
    insert into queue (store_id, entity, id, queued_at, due_at, worker, attempts)
    select store_id, entity, id, now(), now() + coalesce(keep_ms, ${holdMs}) * interval '1 ms',
      case when keep_ms is not null then ${worker}::uuid end, case when keep_ms is null then 0 else 1 end
    from (
      select new.*, case when not exists (
        select from queue q where q.store_id = new.store_id and q.entity = new.entity and q.id < new.id
      ) then ${keepMs}::int end as keep_ms
      from new) as claimed
    returning id, attempts = 1 as "isClaimed"`;
};

/** Inserts receipts that are not processed, each with its result. */
const insertEnded = (sql: ISql, receipts: readonly Receipt[]) => sql<Inserted[]>`
  ${newEvents(sql, receipts)}
  insert into results (store_id, id, state, attempts, error, finished_at)
  select new.store_id, new.id, given.state, 0, given.error, now()
  from new join unnest(${arrayOf(receipts.map(({ id }) => id))}::uuid[],
    ${arrayOf(receipts.map(({ state }) => state))}::text[], ${arrayOf(receipts.map(({ error }) => error))}::text[])
    as given (id, state, error) on given.id = new.id
  returning id, false as "isClaimed"`;

/** Inserts the receipts that are not stored yet; a statement for each kind. Nearly always there is one kind. */
const insert = async (
  sql: ISql,
  receipts: readonly Receipt[],
  claimer?: Claimer,
): Promise<Map<string, Stored>> => {
  const entities = new Set<string>();
  const groups = Map.groupBy(receipts, ({ storeId, entity, state, holdMs }) => {
    if (state !== 'pending') return 'ended';
    if (holdMs > 0) return holdMs;
    if (claimer === undefined || entity === null) return 'now';
    // Of each entity only the first is claimed at once.
    const key = storeId + entity;
    return entities.has(key) ? 'later' : (entities.add(key), 'now');
  });
  const stored = new Map<string, Stored>();
  for (const [kind, some] of groups) {
    const rows = await (kind === 'ended'
      ? insertEnded(sql, some)
      : insertPending(sql, some, typeof kind === 'number' ? kind : 0, kind === 'now' ? claimer : undefined));
    for (const { id, isClaimed } of rows) stored.set(id, isClaimed ? 'claimed' : 'stored');
  }
  return stored;
};

interface Before {
  /** The same receipt is already stored; happens when the spool is replayed. */
  stored: boolean;
  /** Id of the latest earlier event with the same subject. */
  latest: string | null;
  same: boolean | null;
}

const before = async (sql: ISql, { storeId, id, dedup, body }: Receipt): Promise<Before | undefined> => {
  const [first, last] = keyRange(dedup);
  const [row] = await sql<Before[]>`
    select exists (select from events where store_id = ${storeId} and id = ${id}) as stored,
      latest.id as latest, latest.same
    from (select) as one left join lateral (
      select id, body = ${body} as same from events
      where store_id = ${storeId} and dedup between ${first} and ${last} and id < ${id}
      order by id desc limit 1) as latest on true`;
  return row;
};

/** The first attempt to store it claimed it, but the process did not learn of that. */
const makeDue = (sql: ISql, { storeId, id, entity }: Receipt) => sql`
  update queue set worker = null, due_at = now()
  where store_id = ${storeId} and entity = ${entity ?? id} and id = ${id} and worker is not null`;

/** A repeated body is a duplicate unless another event with the same subject came in between. */
const storeRepeat = async (sql: ISql, receipt: Receipt): Promise<Stored> => {
  const found = await before(sql, receipt);
  if (found?.stored) await makeDue(sql, receipt);
  if (!receipt.byContent || receipt.entity === null) return 'duplicate';
  if (found === undefined || found.stored || found.latest === null || found.same) return 'duplicate';
  const added = await insert(sql, [{ ...receipt, dedup: repeatKey(receipt.dedup, found.latest) }]);
  return added.get(receipt.id) ?? 'duplicate';
};

/**
 * Commits receipts to the inbox together, nearly always in one round trip. Returns the result of each receipt, in order.
 * All are durable once this resolves. Storing a receipt again changes nothing. With a claimer, as many as possible are
 * claimed for it at once.
 */
export const storeReceipts = async (
  sql: ISql,
  receipts: readonly Receipt[],
  claimer?: Claimer,
): Promise<Stored[]> => {
  const stored = await insert(sql, receipts, claimer);
  const results: Stored[] = [];
  for (const receipt of receipts) results.push(stored.get(receipt.id) ?? (await storeRepeat(sql, receipt)));
  return results;
};
