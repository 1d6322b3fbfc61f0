import { makePathToken } from '@platform/auth/path-tokens';
import { NotFound } from '@platform/service-kit/problem';
import { v7 } from 'uuid';
import type { Context } from '../context.ts';
import { changedStore, clearedCredentials, newStore, webhookUrls, type StoreState } from './domain.ts';
import { credentialsContext } from './credentials.ts';
import type { KnownStore, StoreRow } from './known-store.ts';
import type { StoreChanges, StoreInput } from './schema.ts';
import type { TokenPurpose } from './settings.ts';
import { endTokens, findStore, insertStore, insertToken, listStores, tokensOf } from './store.ts';
import { viewsOf } from './view.ts';

const sealed = ({ box }: Context, id: string, state: StoreState): StoreRow => ({
  ...state,
  id,
  credentials: box.seal(JSON.stringify(state.credentials), credentialsContext(id)),
});

const shown = async (context: Context, id: string) => {
  const { sql } = context.database;
  const row = await findStore(sql, id);
  if (row === undefined) throw new NotFound('store');
  const [view] = viewsOf(context, [row], await tokensOf(sql, [id]));
  if (view === undefined) throw new NotFound('store');
  return view;
};

/** A new store and its two tokens, which are never shown again. `id` and `token` are for demo data. */
export const createStore = async (
  context: Context,
  input: StoreInput,
  { id = v7(), token = makePathToken() } = {},
) => {
  const { env, database, now } = context;
  const state = newStore(input);
  const payments = makePathToken();
  await database.sql.begin(async (sql) => {
    await insertStore(sql, sealed(context, id, state), now());
    await insertToken(sql, { storeId: id, purpose: 'events', tokenHash: token.tokenHash }, now());
    await insertToken(sql, { storeId: id, purpose: 'payments', tokenHash: payments.tokenHash }, now());
  });
  return {
    ...(await shown(context, id)),
    webhookToken: token.token,
    webhookUrls: webhookUrls(env.PUBLIC_URL, state.settings, {
      events: token.token,
      payments: payments.token,
    }),
  };
};

export const getStore = shown;

/** A store as processing needs it. Throws NotFound. */
export const knownStore = async ({ database, openStore }: Context, id: string): Promise<KnownStore> => {
  const row = await findStore(database.sql, id);
  if (row === undefined) throw new NotFound('store');
  const { createdAt: _created, updatedAt: _updated, ...store } = row;
  return openStore(store);
};

/** Throws NotFound unless there is such a store. */
export const requireStore = async ({ database }: Context, id: string): Promise<void> => {
  if ((await findStore(database.sql, id)) === undefined) throw new NotFound('store');
};

export const pageOfStores = async (context: Context, offset: bigint, limit: number) => {
  const { sql } = context.database;
  const rows = await listStores(sql, offset, limit);
  const ids = rows.map(({ id }) => id);
  return viewsOf(context, rows, ids.length === 0 ? [] : await tokensOf(sql, ids));
};

/** Changes a store; `clearedCredentials` names the credentials that it lost with the change. */
export const changeStore = async (context: Context, id: string, change: StoreChanges) => {
  const { database, openStore, now } = context;
  const cleared = await database.sql.begin(async (sql) => {
    const row = await findStore(sql, id, true);
    if (row === undefined) throw new NotFound('store');
    const before = openStore(row);
    const state = changedStore(before, change);
    await insertStore(sql, sealed(context, id, state), now());
    return clearedCredentials(before.credentials, state.credentials);
  });
  return { ...(await shown(context, id)), clearedCredentials: cleared };
};

/** A new token for `purpose`; the old one works for `graceSeconds` more, on every instance. */
export const rotateToken = async (
  context: Context,
  id: string,
  { graceSeconds, for: purpose }: { graceSeconds: number; for: TokenPurpose },
) => {
  const { env, database, now } = context;
  const { token, tokenHash } = makePathToken();
  const until = new Date(now().getTime() + graceSeconds * 1000);
  const settings = await database.sql.begin(async (sql) => {
    const row = await findStore(sql, id, true);
    if (row === undefined) throw new NotFound('store');
    await endTokens(sql, id, purpose, until);
    await insertToken(sql, { storeId: id, purpose, tokenHash }, now());
    return row.settings;
  });
  return {
    webhookToken: token,
    webhookUrls: webhookUrls(env.PUBLIC_URL, settings, { [purpose]: token }),
    previousWorksUntil: until.toISOString(),
  };
};
