import { type Page, type Slice, slice } from '@platform/pagination/list';
import { jsonTable, type JsonRow } from '@platform/service-kit/json-table';
import type { Prunable } from '@platform/service-kit/pruning';
import type { Queries } from '@platform/service-kit/record';
import type { Sql } from 'postgres';
import type { KeyRow } from '../reader.ts';
import { ApiKey } from './schema.ts';

/** The stored fields of a new key. */
export interface NewRow {
  name: string;
  scopes: readonly string[];
  clients: readonly string[] | null;
  hash: string;
  keyHint: string;
  /** ISO 8601; null for a key that does not expire. */
  grantedUntil: string | null;
}

/** The fields that a replaced key passes on to the new one, and its hash. */
type Replaced = Pick<NewRow, 'name' | 'scopes' | 'clients' | 'hash' | 'grantedUntil'>;

/** The table of keys, with rows as JSON without their secrets. */
export const apiKeys = jsonTable('api_keys', Object.keys(ApiKey.shape));

/** Condition: the key is valid, by the clock of the database. */
const isValid = (sql: Queries) => sql`revoked_at is null and (expires_at is null or expires_at > now())`;

/** Keys that were revoked or have expired 90 days ago are erased in the background. */
export const outdatedApiKeys: Prunable = {
  table: 'api_keys',
  outdated: "least(expires_at, revoked_at) < now() - interval '90 days'",
};

/** One page, oldest first; revoked and expired keys only with `all`. */
export const findApiKeys = async (
  sql: Queries,
  { offset, limit }: Page,
  all: boolean,
): Promise<Slice<string>> => {
  const selection = sql`where ${all} or ${isValid(sql)} order by id offset ${String(offset)} limit ${limit + 1}`;
  return slice(await apiKeys.list(sql, selection), limit);
};

/** Whether a valid key is limited to clients that include this one. */
export const isKeyLimitedTo = async (sql: Queries, client: string): Promise<boolean> => {
  const { count } = await sql`select from api_keys where ${client} = any(clients) and ${isValid(sql)}`;
  return count > 0;
};

/** The fields of a key that the guard needs. */
export const findByHash = async (sql: Sql, hash: string): Promise<KeyRow | undefined> => {
  const [row] = await sql<KeyRow[]>`
    select id, key_hash as hash, scopes, clients, ${isValid(sql)} as "isValid" from api_keys where key_hash = ${hash}`;
  return row;
};

/** The key with this id, if it is valid. */
export const findValid = async (
  sql: Sql,
  id: string,
): Promise<Pick<KeyRow, 'id' | 'clients'> | undefined> => {
  const [row] = await sql<Pick<KeyRow, 'id' | 'clients'>[]>`
    select id, clients from api_keys where id = ${id} and ${isValid(sql)}`;
  return row;
};

/** Stores a key that works until `grantedUntil`. Undefined when that has passed. */
export const insertApiKey = async (
  sql: Queries,
  { name, scopes, clients, hash, keyHint, grantedUntil }: NewRow,
): Promise<string | undefined> => {
  const [row] = await sql<JsonRow[]>`
    insert into api_keys (name, key_hash, key_hint, scopes, clients, granted_until, expires_at)
    select ${name}, ${hash}, ${keyHint}, ${scopes}, ${clients}::text[], expiry.until, expiry.until
    from (select ${grantedUntil}::timestamptz(3) as until) expiry
    where expiry.until is null or expiry.until > now()
    returning ${sql.unsafe(apiKeys.json)}`;
  return row?.json;
};

/** Makes a valid key expire after the grace period, unless it expires earlier. Undefined if it is not valid. */
export const expireAfter = async (
  sql: Queries,
  id: string,
  graceSeconds: number,
): Promise<Replaced | undefined> => {
  const [row] = await sql<Replaced[]>`
    update api_keys set expires_at = least(expires_at, now() + make_interval(secs => ${graceSeconds}))
    where id = ${id} and ${isValid(sql)}
    returning name, scopes, clients, key_hash as hash, granted_until as "grantedUntil"`;
  return row;
};

/** Revokes a key; a key that was revoked before stays as it is. Returns its hash. */
export const saveRevocation = async (sql: Queries, id: string): Promise<string> => {
  const [row] = await sql<[{ hash: string }]>`
    update api_keys set revoked_at = coalesce(revoked_at, now()) where id = ${id} returning key_hash as hash`;
  return row.hash;
};

/** Stores the time of the last use, at most once a minute for all instances. */
export const saveLastUse = async (sql: Sql, id: string): Promise<void> => {
  await sql`
    update api_keys set last_used_at = now()
    where id = ${id} and (last_used_at is null or last_used_at <= now() - interval '1 minute')`;
};
