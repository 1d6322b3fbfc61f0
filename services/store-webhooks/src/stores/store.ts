import type { Queries } from '../db/sql.ts';
import type { StoreRow } from './known-store.ts';
import type { TokenPurpose } from './settings.ts';

export interface FullStoreRow extends StoreRow {
  createdAt: Date | string;
  updatedAt: Date | string;
}

const columns = (sql: Queries) => sql`
  id, name, store_url as "storeUrl", settings, credentials, created_at as "createdAt", updated_at as "updatedAt"`;

export const insertStore = async (sql: Queries, store: StoreRow, now: Date): Promise<void> => {
  const { id, name, storeUrl, settings, credentials } = store;
  await sql`
    insert into stores (id, name, store_url, settings, credentials, created_at, updated_at)
    values (${id}, ${name}, ${storeUrl}, ${JSON.stringify(settings)}::jsonb, ${credentials},
      ${now.toISOString()}, ${now.toISOString()})
    on conflict (id) do update set name = excluded.name, store_url = excluded.store_url,
      settings = excluded.settings, credentials = excluded.credentials, updated_at = excluded.updated_at`;
};

export const findStore = async (
  sql: Queries,
  id: string,
  lock = false,
): Promise<FullStoreRow | undefined> => {
  const [row] = await sql<FullStoreRow[]>`
    select ${columns(sql)} from stores where id = ${id} ${lock ? sql`for update` : sql``}`;
  return row;
};

export const findStores = (sql: Queries, ids: readonly string[]) =>
  sql<FullStoreRow[]>`select ${columns(sql)} from stores where id in ${sql(ids)}`;

export const listStores = (sql: Queries, offset: bigint, limit: number) => sql<FullStoreRow[]>`
  select ${columns(sql)} from stores order by id desc offset ${String(offset)} limit ${limit + 1}`;

export interface TokenInfo {
  storeId: string;
  purpose: TokenPurpose;
  createdAt: Date | string;
  graceUntil: Date | string | null;
  uses: number | string;
  lastUsedAt: Date | string | null;
}

/** The tokens of stores: of each store those in force first. */
export const tokensOf = (sql: Queries, storeIds: readonly string[]) => sql<TokenInfo[]>`
  select store_id as "storeId", purpose, created_at as "createdAt", grace_until as "graceUntil", uses,
    last_used_at as "lastUsedAt"
  from webhook_tokens where store_id in ${sql(storeIds)}
  order by store_id, grace_until is not null, purpose, created_at desc`;

interface NewToken {
  storeId: string;
  purpose: TokenPurpose;
  tokenHash: string;
}

export const insertToken = async (
  sql: Queries,
  { storeId, purpose, tokenHash }: NewToken,
  now: Date,
): Promise<void> => {
  await sql`
    insert into webhook_tokens (token_hash, store_id, purpose, created_at)
    values (${tokenHash}, ${storeId}, ${purpose}, ${now.toISOString()}) on conflict (token_hash) do nothing`;
};

/** Lets a store's token in force, and those rotated out before, work until then at most. */
export const endTokens = async (
  sql: Queries,
  storeId: string,
  purpose: TokenPurpose,
  until: Date,
): Promise<void> => {
  await sql`
    update webhook_tokens set grace_until = least(grace_until, ${until.toISOString()})
    where store_id = ${storeId} and purpose = ${purpose}`;
};
