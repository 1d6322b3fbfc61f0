import { makePathToken } from '@platform/auth/path-tokens';
import { type Page, slice } from '@platform/pagination/list';
import type { Executor } from '@platform/service-kit/db';
import { eq, sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { stores, webhookTokens } from '../db/tables.ts';
import { changedStore, clearedCredentials, newStore, webhookUrls, type StoreState } from './domain.ts';
import { credentialsContext, type KnownStore } from './known-store.ts';
import type { StoreChanges, StoreInput } from './schema.ts';
import type { TokenPurpose } from './settings.ts';
import { addStoreChange, findStore, findStores, listStores, settingsReplacedSince } from './queries.ts';
import { showStores } from './view.ts';

const seal = ({ box }: Context, id: string, state: StoreState) => ({
  ...state,
  id,
  credentials: box.seal(JSON.stringify(state.credentials), credentialsContext(id)),
  updatedAt: sql`now()`,
});

/** The view of a store; `db` is the transaction that changed it, if there is one. Throws NotFound. */
export const getStore = async (context: Context, id: string, db: Executor = context.database.orm) => {
  const [view] = await showStores(context, [await findStore(db, id)], db);
  return view as NonNullable<typeof view>;
};

/** A store as processing needs it. Throws NotFound. */
export const knownStore = async ({ database, openStore }: Context, id: string): Promise<KnownStore> =>
  openStore(await findStore(database.orm, id));

/** Stores as processing needs them, by id. */
export const knownStores = async ({ database, openStore }: Context, ids: Iterable<string>) => {
  const rows = await findStores(database.orm, [...ids]);
  return new Map(rows.map((row) => [row.id, openStore(row)]));
};

/** The settings that a store had at a time, if it was changed since. */
export const replacedSettings = ({ database }: Context, storeId: string, at: string) =>
  settingsReplacedSince(database.orm, storeId, at);

/** Throws NotFound unless the store exists. */
export const requireStore = async ({ database }: Context, id: string): Promise<void> => {
  await findStore(database.orm, id);
};

/** The stores of a page, newest first. */
export const pageOfStores = async (context: Context, { offset, limit }: Page) => {
  const { orm } = context.database;
  const { items, hasMore } = slice(await listStores(orm, offset, limit), limit);
  return { items: await showStores(context, items, orm), hasMore };
};

/** Creates a store and its two tokens, which are not shown again. `id` and `token` are for demo data. */
export const createStore = async (
  context: Context,
  input: StoreInput,
  { id = context.nextId(context.clock.now().getTime()), token = makePathToken() } = {},
) => {
  const state = newStore(input);
  const payments = makePathToken();
  const row = seal(context, id, state);
  const createdAt = sql`now()`;
  // The view is read in the same transaction: a request whose deadline passes after the commit must not fail.
  const view = await context.database.orm.transaction(async (tx) => {
    await tx.insert(stores).values({ ...row, createdAt });
    await tx.insert(webhookTokens).values([
      { storeId: id, purpose: 'events', tokenHash: token.tokenHash, createdAt },
      { storeId: id, purpose: 'payments', tokenHash: payments.tokenHash, createdAt },
    ]);
    return getStore(context, id, tx);
  });
  const urls = webhookUrls(context.env.PUBLIC_URL, state.settings, {
    events: token.token,
    payments: payments.token,
  });
  return { ...view, webhookToken: token.token, webhookUrls: urls };
};

/**
 * Changes a store and records the change; `clearedCredentials` names the credentials that it removed. `changedBy` is the
 * subject of the caller's token. Throws NotFound.
 */
export const changeStore = (context: Context, id: string, change: StoreChanges, changedBy: string) =>
  context.database.orm.transaction(async (tx) => {
    const row = await findStore(tx, id, true);
    const before = context.openStore(row);
    const state = changedStore(before, change);
    await tx
      .update(stores)
      .set(seal(context, id, state))
      .where(eq(stores.id, id));
    await addStoreChange(tx, { before: row, after: state, changedBy });
    return {
      ...(await getStore(context, id, tx)),
      clearedCredentials: clearedCredentials(before.credentials, state.credentials),
    };
  });

/** Creates a new token for `purpose`; the old ones work for `graceSeconds` more. Throws NotFound. */
export const rotateToken = async (
  { env, database, rotations }: Context,
  storeId: string,
  { graceSeconds, for: purpose }: { graceSeconds: number; for: TokenPurpose },
) => {
  const { token, tokenHash } = makePathToken();
  const { settings, until, replaced } = await database.orm.transaction(async (tx) => {
    const { settings } = await findStore(tx, storeId, true);
    // By this time other processes find what has changed.
    const [{ until } = { until: '' }] = await tx
      .update(stores)
      .set({ updatedAt: sql`now()` })
      .where(eq(stores.id, storeId))
      .returning({ until: sql<string>`now() + ${graceSeconds} * interval '1 s'`.mapWith(stores.updatedAt) });
    const { graceUntil } = webhookTokens;
    const replaced = await tx
      .update(webhookTokens)
      .set({ graceUntil: sql`least(${graceUntil}, ${until})` })
      .where(sql`${webhookTokens.storeId} = ${storeId} and ${webhookTokens.purpose} = ${purpose}`)
      .returning({ tokenHash: webhookTokens.tokenHash, graceUntil });
    await tx.insert(webhookTokens).values({ storeId, purpose, tokenHash, createdAt: sql`now()` });
    return { settings, until, replaced };
  });
  await rotations.announce(replaced);
  return {
    webhookToken: token,
    webhookUrls: webhookUrls(env.PUBLIC_URL, settings, { [purpose]: token }),
    previousWorksUntil: until,
  };
};
