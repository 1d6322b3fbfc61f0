import type { ISql } from 'postgres';
import type { Fragment } from '../db/sql.ts';
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
 * Inserts the receipts that are not stored yet, in one statement, and returns their ids. The small
 * columns are sent as one JSON document and all bodies as one value. With an array per column, the driver
 * would escape each element, which takes as long as all other work for an event.
 */
const insert = async (sql: ISql, receipts: readonly Receipt[]): Promise<Set<string>> => {
  let end = 1;
  const given = receipts.map((receipt) => ({
    storeId: receipt.storeId,
    id: receipt.id,
    event: receipt.event,
    service: receipt.service ?? undefined,
    entity: receipt.entity ?? undefined,
    headers: receipt.headers,
    receivedAt: receipt.receivedAt.getTime(),
    state: receipt.state,
    error: receipt.error ?? undefined,
    holdMs: receipt.holdMs,
    from: end,
    length: ((end += receipt.body.length), receipt.body.length),
  }));
  const keys = Buffer.concat(receipts.map(({ dedup }) => dedup));
  const bodies = joined(
    sql,
    receipts.map(({ body }) => body),
  );
  const rows = await sql<{ id: string }[]>`
    with sent as materialized (
      select ${JSON.stringify(given)}::json as rows, ${keys}::bytea as keys, ${bodies} as bodies)
    insert into inbox
      (store_id, id, event, service, entity, dedup, body, headers, received_at, state, error, due_at, finished_at)
    select "storeId", id, event, service, entity,
      substring(keys from (n::int - 1) * ${keyBytes} + 1 for ${keyBytes}),
      substring(bodies from "from" for length), headers, to_timestamp("receivedAt" / 1000.0), state, error,
      now() + "holdMs" * interval '1 ms', case when state <> 'pending' then now() end
    from sent, rows from (json_to_recordset(rows) as ("storeId" uuid, id uuid, event text, service text,
      entity text, headers jsonb, "receivedAt" bigint, state text, error text, "holdMs" int, "from" int,
      length int)) with ordinality as new ("storeId", id, event, service, entity, headers, "receivedAt",
      state, error, "holdMs", "from", length, n)
    on conflict (store_id, dedup) do nothing
    returning id`;
  return new Set(rows.map(({ id }) => id));
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
    select exists (select from inbox where store_id = ${storeId} and id = ${id}) as stored,
      latest.id as latest, latest.same
    from (select) as one left join lateral (
      select id, body = ${body} as same from inbox
      where store_id = ${storeId} and dedup between ${first} and ${last} and id < ${id}
      order by id desc limit 1) as latest on true`;
  return row;
};

/** A repeated body is a duplicate unless another event with the same subject came in between. */
const storeRepeat = async (sql: ISql, receipt: Receipt): Promise<Stored> => {
  if (!receipt.byContent || receipt.entity === null) return 'duplicate';
  const found = await before(sql, receipt);
  if (found === undefined || found.stored || found.latest === null || found.same) return 'duplicate';
  const added = await insert(sql, [{ ...receipt, dedup: repeatKey(receipt.dedup, found.latest) }]);
  return added.has(receipt.id) ? 'stored' : 'duplicate';
};

/**
 * Commits receipts to the inbox together, in one round trip if none is a repeat. Returns the result of
 * each receipt, in order. All are durable once this resolves. Storing a receipt again changes nothing.
 */
export const storeReceipts = async (sql: ISql, receipts: readonly Receipt[]): Promise<Stored[]> => {
  const added = await insert(sql, receipts);
  const results: Stored[] = [];
  for (const receipt of receipts) {
    results.push(added.has(receipt.id) ? 'stored' : await storeRepeat(sql, receipt));
  }
  return results;
};
