import { makeApiKey } from '@platform/auth/api-keys';
import { Conflict, NotFound, ValidationFailed } from '@platform/service-kit/problem';
import { v7 } from 'uuid';
import type { Context } from '../context.ts';
import { endOfGrace, isActive } from './domain.ts';
import type { ApiKeyInput } from './schema.ts';
import {
  findApiKey,
  findApiKeys,
  insertApiKey,
  lockApiKey,
  readClock,
  saveValidity,
  type ApiKeyRow,
} from './store.ts';

/** A key that was just created: the only time its secret is known. */
export type MadeKey = ApiKeyRow & { key: string };

const make = (
  { name, scopes, expires_at }: Pick<ApiKeyRow, 'name' | 'scopes' | 'expires_at'>,
  now: Date,
): { row: ApiKeyRow; key: string } => {
  const { key, hash, display } = makeApiKey();
  const row = {
    id: v7(),
    name,
    hash,
    key_hint: display,
    scopes,
    created_at: now.toISOString(),
    expires_at,
    revoked_at: null,
    last_used_at: null,
  };
  return { row, key };
};

export const listApiKeys = (ctx: Context): Promise<ApiKeyRow[]> => findApiKeys(ctx.database);

/** Throws NotFound. */
export const getApiKey = async (ctx: Context, id: string): Promise<ApiKeyRow> => {
  const key = await findApiKey(ctx.database, id);
  if (key === undefined) throw new NotFound('API key');
  return key;
};

/** Throws ValidationFailed when the expiry is not in the future. */
export const createApiKey = async (ctx: Context, input: ApiKeyInput): Promise<MadeKey> => {
  const now = await readClock(ctx.database.orm);
  if (!isActive({ ...input, revoked_at: null }, now))
    throw new ValidationFailed({ expires_at: ['must be in the future'] });
  const { row, key } = make(input, now);
  await insertApiKey(ctx.database.orm, row);
  return { ...row, key };
};

/**
 * Creates another key with the same name, scopes and expiry; the old one works for `graceSeconds` more.
 * Throws NotFound, and Conflict `key_inactive` when the old key is revoked or expired.
 */
export const rotateApiKey = async (ctx: Context, id: string, graceSeconds: number): Promise<MadeKey> => {
  const { oldHash, made } = await ctx.database.orm.transaction(async (tx) => {
    const old = await lockApiKey(tx, id);
    if (old === undefined) throw new NotFound('API key');
    const now = await readClock(tx);
    if (!isActive(old, now))
      throw new Conflict('key_inactive', 'The key is revoked or expired; create another.');
    const { row, key } = make(old, now);
    await saveValidity(tx, id, { expires_at: endOfGrace(old, graceSeconds, now) });
    await insertApiKey(tx, row);
    return { oldHash: old.hash, made: { ...row, key } };
  });
  ctx.forgetKey(oldHash);
  return made;
};

/** Revokes a key permanently: here at once, on every instance within a second. Throws NotFound. */
export const revokeApiKey = async (ctx: Context, id: string): Promise<void> => {
  const hash = await ctx.database.orm.transaction(async (tx) => {
    const key = await lockApiKey(tx, id);
    if (key === undefined) throw new NotFound('API key');
    if (key.revoked_at === null)
      await saveValidity(tx, id, { revoked_at: (await readClock(tx)).toISOString() });
    return key.hash;
  });
  ctx.forgetKey(hash);
};
