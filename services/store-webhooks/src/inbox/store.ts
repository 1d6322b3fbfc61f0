import type { Sql } from 'postgres';
import { keyRange, repeatKey } from './dedup.ts';
import type { Receipt, Stored } from './receipt.ts';

const later = ({ receivedAt, holdMs }: Receipt): string =>
  new Date(receivedAt.getTime() + holdMs).toISOString();

/** PostgreSQL's input form of bytea; spares the driver a guess for each element. */
const hex = (bytes: Buffer): string => `\\x${bytes.toString('hex')}`;

/** Inserts what is not there yet, in one statement. Gives the ids that were new. */
const insert = async (sql: Sql, receipts: readonly Receipt[]): Promise<Set<string>> => {
  const column = <K extends keyof Receipt>(name: K) => receipts.map((receipt) => receipt[name]);
  const rows = await sql<{ id: string }[]>`
    insert into inbox
      (store_id, id, event, service, entity, dedup, body, headers, received_at, state, error, due_at, finished_at)
    select store_id, id, event, service, entity, dedup, body, headers, received_at, state, error, due_at,
      case when state <> 'pending' then received_at end
    from unnest(
      ${column('storeId')}::uuid[], ${column('id')}::uuid[], ${column('event')}::text[],
      ${column('service')}::text[], ${column('entity')}::text[],
      ${column('dedup').map(hex)}::text[]::bytea[], ${column('body').map(hex)}::text[]::bytea[],
      ${column('headers').map((headers) => JSON.stringify(headers))}::text[]::jsonb[],
      ${column('receivedAt').map((at) => at.toISOString())}::text[]::timestamptz[],
      ${column('state')}::text[], ${column('error')}::text[],
      ${receipts.map(later)}::text[]::timestamptz[]
    ) as new (store_id, id, event, service, entity, dedup, body, headers, received_at, state, error, due_at)
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
