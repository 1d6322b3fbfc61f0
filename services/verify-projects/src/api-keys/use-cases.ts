import { makeApiKey } from '@platform/auth/api-keys';
import { type Page, type Slice } from '@platform/pagination/list';
import type { Executor } from '@platform/service-kit/db';
import { Conflict, NotFound, ValidationFailed } from '@platform/service-kit/problem';
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
} from './queries.ts';

/** A key that was just created: the only time its secret is known. */
export type MadeKey = ApiKeyRow & { key: string };

/** Stores a new key that works until `granted_until`, or until it is revoked or replaced. */
const make = async (
  orm: Executor,
  { name, scopes, granted_until }: Pick<ApiKeyRow, 'name' | 'scopes' | 'granted_until'>,
): Promise<MadeKey> => {
  const { key, hash, display } = makeApiKey();
  const row = { name, scopes, hash, key_hint: display, granted_until, expires_at: granted_until };
  return { ...(await insertApiKey(orm, row)), key };
};

/** One page, oldest first; revoked and expired keys only with `all`. */
export const listApiKeys = (ctx: Context, page: Page, all: boolean): Promise<Slice<ApiKeyRow>> =>
  findApiKeys(ctx.database, page, all);

/** Throws NotFound. */
export const getApiKey = async (ctx: Context, id: string): Promise<ApiKeyRow> => {
  const key = await findApiKey(ctx.database, id);
  if (key === undefined) throw new NotFound('API key');
  return key;
};

/** Throws ValidationFailed when the expiry is not in the future. */
export const createApiKey = async (ctx: Context, input: ApiKeyInput): Promise<MadeKey> => {
  const { orm } = ctx.database;
  if (!isActive({ ...input, revoked_at: null }, await readClock(orm)))
    throw new ValidationFailed({ expires_at: ['must be in the future'] });
  return make(orm, { ...input, granted_until: input.expires_at });
};

/**
 * Creates another key with the name, the scopes and the expiry that the old one was created with; the old
 * one works for `graceSeconds` more. Throws NotFound, and Conflict `key_inactive` when the old key is revoked or expired.
 */
export const rotateApiKey = async (ctx: Context, id: string, graceSeconds: number): Promise<MadeKey> => {
  const { oldHash, made } = await ctx.database.orm.transaction(async (tx) => {
    const old = await lockApiKey(tx, id);
    if (old === undefined) throw new NotFound('API key');
    const now = await readClock(tx);
    if (!isActive(old, now))
      throw new Conflict('key_inactive', 'The key is revoked or expired; create another.');
    await saveValidity(tx, id, { expires_at: endOfGrace(old, graceSeconds, now) });
    return { oldHash: old.hash, made: await make(tx, old) };
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
