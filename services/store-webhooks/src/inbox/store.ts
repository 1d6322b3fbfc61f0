import type { Sql } from 'postgres';
import { keyBytes, keyRange, repeatKey } from './dedup.ts';
import type { Receipt, Stored } from './receipt.ts';

/**
 * Inserts what is not there yet, in one statement. Gives the ids that were new. What is small goes as
 * one JSON document, and the bytes of all bodies as one value: an array of each column would be escaped
 * element by element, which took as long as all else that is done to an event.
 */
const insert = async (sql: Sql, receipts: readonly Receipt[]): Promise<Set<string>> => {
  let end = 1;
  const given = receipts.map(({ dedup: _dedup, body, byContent: _byContent, ...rest }) => ({
    ...rest,
    from: end,
    length: ((end += body.length), body.length),
  }));
  const bodies = Buffer.concat(receipts.map(({ body }) => body));
  const keys = Buffer.concat(receipts.map(({ dedup }) => dedup));
  const rows = await sql<{ id: string }[]>`
    insert into inbox
      (store_id, id, event, service, entity, dedup, body, headers, received_at, state, error, due_at, finished_at)
    select "storeId", id, event, service, entity,
      substring(${keys}::bytea from (n::int - 1) * ${keyBytes} + 1 for ${keyBytes}),
      substring(${bodies}::bytea from "from" for length), headers, "receivedAt", state, error,
      "receivedAt" + "holdMs" * interval '1 ms', case when state <> 'pending' then "receivedAt" end
    from rows from (json_to_recordset(${JSON.stringify(given)}::json) as ("storeId" uuid, id uuid, event text,
      service text, entity text, headers jsonb, "receivedAt" timestamptz, state text, error text,
      "holdMs" int, "from" int, length int)) with ordinality as new ("storeId", id, event, service, entity,
      headers, "receivedAt", state, error, "holdMs", "from", length, n)
    on conflict (store_id, dedup) do nothing
    returning id`;
  return new Set(rows.map(({ id }) => id));
};

interface Before {
  /** This very receipt is stored already: a replay of the spool meets it again. */
  stored: boolean;
  /** What was received last about the same, before this receipt. */
  latest: string | null;
  same: boolean | null;
}

const before = async (sql: Sql, { storeId, id, dedup, body }: Receipt): Promise<Before | undefined> => {
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

/** A body that came before is a duplicate unless something else about the same came in between. */
const storeRepeat = async (sql: Sql, receipt: Receipt): Promise<Stored> => {
  if (!receipt.byContent || receipt.entity === null) return 'duplicate';
  const found = await before(sql, receipt);
  if (found === undefined || found.stored || found.latest === null || found.same) return 'duplicate';
  const added = await insert(sql, [{ ...receipt, dedup: repeatKey(receipt.dedup, found.latest) }]);
  return added.has(receipt.id) ? 'stored' : 'duplicate';
};

/**
 * Commits receipts to the inbox together, in one round trip as long as none repeats. Gives what
 * became of each, in order. All are durable when it resolves; storing one again changes nothing.
 */
export const storeReceipts = async (sql: Sql, receipts: readonly Receipt[]): Promise<Stored[]> => {
  const added = await insert(sql, receipts);
  const results: Stored[] = [];
  for (const receipt of receipts) {
    results.push(added.has(receipt.id) ? 'stored' : await storeRepeat(sql, receipt));
  }
  return results;
};
