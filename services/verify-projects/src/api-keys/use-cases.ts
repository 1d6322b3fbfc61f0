import { makeApiKey } from '@platform/auth/api-keys';
import type { Caller } from '@platform/auth/bearer';
import { withSecretIdempotencyKey } from '@platform/service-kit/idempotency';
import { Conflict, ValidationFailed } from '@platform/service-kit/problem';
import { oneAtATime } from '@platform/service-kit/one-at-a-time';
import type { Queries } from '@platform/service-kit/record';
import { orNotFound, versionOf, withLocked } from '@platform/service-kit/record-versions';
import type { TransactionSql } from 'postgres';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import { subjectOfKey } from '../reader.ts';
import { apiKeys, expireAfter, insertApiKey, saveRevocation, type NewRow } from './queries.ts';
import type { ApiKeyInput, NewApiKey } from './schema.ts';

export { isKeyLimitedTo } from './queries.ts';

/** A key that was just created: the only time its secret is known. */
type CreatedKey = z.input<typeof NewApiKey>;

/** Who creates a key, and the Idempotency-Key of the request. */
interface Creation {
  caller: Caller;
  key: string | undefined;
}

/** Stores a new key that works until `grantedUntil`, or until it is revoked or replaced. Throws ValidationFailed. */
const storeKey = async (sql: Queries, settings: Omit<NewRow, 'hash' | 'keyHint'>): Promise<CreatedKey> => {
  const { key, hash, display: keyHint } = makeApiKey();
  const json = await insertApiKey(sql, { ...settings, hash, keyHint });
  if (json === undefined) throw new ValidationFailed({ expires_at: ['must be in the future'] });
  return { ...(JSON.parse(json) as Omit<CreatedKey, 'key'>), key };
};

/** Creates a key once for each Idempotency-Key. Throws Conflict `idempotency_key_used`, because the secret is not stored. */
const createOnce = (
  { database: { sql } }: Context,
  { caller: { subject: owner }, key }: Creation,
  request: object,
  create: (tx: TransactionSql) => Promise<CreatedKey>,
): Promise<CreatedKey> =>
  key === undefined
    ? sql.begin<CreatedKey>(create)
    : withSecretIdempotencyKey(sql, { owner, key, request }, create, ({ id }) => `/v1/api-keys/${id}`);

/** Throws ValidationFailed when the expiry is not in the future, by the clock of the database. */
export const createApiKey = (ctx: Context, creation: Creation, input: ApiKeyInput): Promise<CreatedKey> =>
  createOnce(ctx, creation, input, (tx) => storeKey(tx, { ...input, grantedUntil: input.expires_at }));

const turnOf = (id: string, caller: Caller) => ({ name: 'API key', params: { id }, caller: caller.subject });

/**
 * Creates a key with the name, the scopes and the expiry that the old one was created with, and transfers the subscriptions
 * to it. The old key works for `graceSeconds` more. Throws NotFound, and Conflict `key_inactive` if it is revoked or expired.
 */
export const rotateApiKey = async (
  ctx: Context,
  creation: Creation,
  id: string,
  graceSeconds: number,
): Promise<CreatedKey> => {
  let oldHash: string | undefined;
  const rotate = async (tx: TransactionSql): Promise<CreatedKey> => {
    orNotFound(await apiKeys.find(tx, { id }, true), 'API key');
    const old = await expireAfter(tx, id, graceSeconds);
    if (old === undefined)
      throw new Conflict('key_inactive', 'The key is revoked or expired; create another.');
    oldHash = old.hash;
    const key = await storeKey(tx, old);
    await ctx.subscriptions.transferSubscriptions(tx, subjectOfKey(id), subjectOfKey(key.id));
    return key;
  };
  const newKey = await oneAtATime(ctx.database.sql, turnOf(id, creation.caller), () =>
    createOnce(ctx, creation, { id, graceSeconds }, rotate),
  );
  if (oldHash !== undefined) ctx.forgetKey(oldHash);
  return newKey;
};

/** Fields that callers do not change; they are not part of the version. */
export const computedFields = ['last_used_at'];

/** Revokes a key permanently: here at once, on every instance within a second. Throws NotFound and Problem `stale`. */
export const revokeApiKey = async (
  ctx: Context,
  id: string,
  { caller, expected }: { caller: Caller; expected: readonly string[] | undefined },
): Promise<void> => {
  const version = (json: string): string => versionOf(json, computedFields);
  const hash = await withLocked(
    ctx.database.sql,
    { ...turnOf(id, caller), version, expected, find: (tx) => apiKeys.find(tx, { id }, true) },
    (tx) => saveRevocation(tx, id),
  );
  ctx.forgetKey(hash);
};
