import { makePathToken } from '@platform/auth/path-tokens';
import { type PageQuery, readPageList } from '@platform/pagination/list';
import { ormOf, type Executor } from '@platform/service-kit/db';
import { collectIssues } from '@platform/service-kit/field-errors';
import { withSecretIdempotencyKey, type Repeatable } from '@platform/service-kit/idempotency';
import { oneAtATime } from '@platform/service-kit/one-at-a-time';
import { ValidationFailed, type FieldErrors } from '@platform/service-kit/problem';
import { requireVersion, versionOf } from '@platform/service-kit/record-versions';
import { and, asc, desc, eq, gte, inArray, sql } from 'drizzle-orm';
import type { TransactionSql } from 'postgres';
import type { Context } from '../context.ts';
import { storeChanges, stores, webhookTokens, type StoreRow } from '../db/tables.ts';
import {
  clearedCredentials,
  isUnchanged,
  patchedFields,
  storeWith,
  webhookUrls,
  type StoreState,
} from './domain.ts';
import { credentialsContext, isPaused, type KnownStore } from './known-store.ts';
import { StoreBody, type StoreInput, type StorePatch } from './schema.ts';
import type { StoreSettings } from './settings.ts';
import { addStoreChange, findStore, findStoreToChange } from './queries.ts';
import { showStores } from './view.ts';

export { findStoreToChange } from './queries.ts';

/** The row of a store. Throws NotFound. */
export const requireStore = ({ database }: Context, id: string): Promise<StoreRow> =>
  findStore(database.orm, id);

/** Maximum number of characters of a store's settings, because each change record contains all of them. */
const maxSettings = 32_768;

/** The row of a store with encrypted credentials. Throws ValidationFailed if the settings are too large. */
const seal = ({ box }: Context, id: string, state: StoreState) => {
  if (JSON.stringify(state.settings).length > maxSettings)
    throw new ValidationFailed({ body: [`must have at most ${maxSettings} characters of settings`] });
  const credentials = box.seal(JSON.stringify(state.credentials), credentialsContext(id));
  return { ...state, id, credentials, updatedAt: sql`now()` };
};

/** The version of the fields of a store that callers can change; token uses, for example, do not change it. */
export const changeableVersion = ({ name, storeUrl, settings, credentials, deletedAt }: StoreRow): string =>
  versionOf(JSON.stringify([name, storeUrl, settings, credentials, deletedAt]));

/**
 * The view of a store and its version; If-Match compares only the first part of the version (`requireVersion`). `db`: the
 * transaction that changed the store, if there is one. Throws NotFound.
 */
export const getStore = async (context: Context, id: string, db: Executor = context.database.orm) => {
  const row = await findStore(db, id);
  const [view] = await showStores(context, [row], db);
  const version = `${changeableVersion(row)}~${versionOf(JSON.stringify(view))}`;
  return { view: view as NonNullable<typeof view>, version };
};

/** A store with its decrypted credentials. Throws NotFound. */
export const knownStore = async ({ database, openStore }: Context, id: string): Promise<KnownStore> =>
  openStore(await findStore(database.orm, id));

/** As `knownStore`, but throws Conflict `store_deleted` for a deleted store. Throws NotFound. */
export const knownStoreToChange = async ({ database, openStore }: Context, id: string): Promise<KnownStore> =>
  openStore(await findStoreToChange(database.orm, id, false));

/** Stores with their decrypted credentials, by id. */
export const knownStores = async ({ database, openStore }: Context, ids: Iterable<string>) => {
  const rows = await database.orm
    .select()
    .from(stores)
    .where(inArray(stores.id, [...ids]));
  return new Map(rows.map((row) => [row.id, openStore(row)]));
};

/** The settings that a store had at a time: those that its first change after `at` replaced. Undefined if there is none. */
export const replacedSettings = async (
  { database }: Context,
  storeId: string,
  at: string,
): Promise<StoreSettings | undefined> => {
  const [change] = await database.orm
    .select({ before: storeChanges.before })
    .from(storeChanges)
    .where(and(eq(storeChanges.storeId, storeId), gte(storeChanges.changedAt, at)))
    .orderBy(asc(storeChanges.changedAt), asc(storeChanges.id))
    .limit(1);
  return change?.before;
};

/**
 * A store with the mapping that its generic POS had at a time, because a later mapping may read fields of an event that views
 * mask. If it had another kind of POS then, the address and credentials of that POS are no longer known.
 */
export const storeMappedAt = async (context: Context, store: KnownStore, at: string): Promise<KnownStore> => {
  const { settings, updatedAt } = store;
  if (settings.pos.kind !== 'generic' || Date.parse(updatedAt) <= Date.parse(at)) return store;
  const earlierPos = (await replacedSettings(context, store.id, at))?.pos;
  if (earlierPos === undefined) return store;
  return earlierPos.kind === 'generic'
    ? { ...store, settings: { ...settings, pos: { ...settings.pos, mapping: earlierPos.mapping } } }
    : { ...store, settings: { ...settings, pos: { kind: earlierPos.kind } }, credentials: {} };
};

/** A page of the stores, newest first; only those in `storeIds` if it is set. */
export const listStores = (context: Context, query: PageQuery, storeIds?: ReadonlySet<string>) =>
  readPageList('stores', query, async ({ offset, limit }) => {
    const { orm } = context.database;
    const rows = await orm
      .select()
      .from(stores)
      .where(storeIds && inArray(stores.id, [...storeIds]))
      .orderBy(desc(stores.id))
      .offset(Number(offset))
      .limit(limit + 1);
    return showStores(context, rows, orm);
  });

/** Creates a store and its two tokens, which are not shown again. `id` and `token` are for demo data, which has no `request`. */
export const createStore = async (
  context: Context,
  input: StoreInput,
  {
    id = context.nextId(context.clock.now().getTime()),
    token = makePathToken(),
    request = { owner: '', key: undefined, request: undefined },
  }: { id?: string; token?: ReturnType<typeof makePathToken>; request?: Repeatable } = {},
) => {
  const { database, env } = context;
  const state = storeWith(input);
  const payments = makePathToken();
  const row = seal(context, id, state);
  const createdAt = sql`now()`;
  const create = async (tx: TransactionSql) => {
    const db = ormOf(tx, database);
    await db.insert(stores).values({ ...row, createdAt });
    await db.insert(webhookTokens).values([
      { storeId: id, purpose: 'events', tokenHash: token.tokenHash, createdAt },
      { storeId: id, purpose: 'payments', tokenHash: payments.tokenHash, createdAt },
    ]);
    // The view is read in the same transaction: a request whose deadline passes after the commit must not fail.
    return getStore(context, id, db);
  };
  const { view, version } = await withSecretIdempotencyKey(
    database.sql,
    request,
    create,
    () => `/v1/stores/${id}`,
  );
  const urls = webhookUrls(env.PUBLIC_URL, state.settings, {
    events: token.token,
    payments: payments.token,
  });
  return { version, store: { ...view, webhookToken: token.token, webhookUrls: urls } };
};

/** Validates the fields of a store after a patch. Throws ValidationFailed that names the invalid fields. */
const validated = (fields: unknown): StoreInput => {
  const { data, error } = StoreBody.safeParse(fields);
  if (data !== undefined) return data;
  const errors = Object.create(null) as FieldErrors;
  collectIssues(errors, error.issues, 'body');
  throw new ValidationFailed(errors);
};

interface Change {
  patch: StorePatch;
  /** The versions of If-Match. */
  expected: readonly string[] | undefined;
  /** The subject of the caller's token. */
  changedBy: string;
}

export const storeLock = (id: string, caller: string) => ({ name: 'store', params: { id }, caller });

/**
 * Changes a store and records the change; `clearedCredentials` names the credentials that it removed. A patch that changes
 * nothing writes nothing. Throws NotFound, ValidationFailed and a Problem (412 `stale`).
 */
export const changeStore = async (context: Context, id: string, { patch, expected, changedBy }: Change) => {
  const changed = await oneAtATime(context.database.sql, storeLock(id, changedBy), () =>
    context.database.orm.transaction(async (tx) => {
      const row = await findStoreToChange(tx, id);
      requireVersion(expected, changeableVersion(row), 'store');
      const before = context.openStore(row);
      const isEmpty = Object.keys(patch).length === 0;
      const after = isEmpty ? undefined : storeWith(validated(patchedFields(before, patch)), patch, before);
      if (after !== undefined && !isUnchanged(before, after)) {
        await tx
          .update(stores)
          .set(seal(context, id, after))
          .where(eq(stores.id, id));
        await addStoreChange(tx, { before: row, after, changedBy });
      }
      const { view, version } = await getStore(context, id, tx);
      const cleared = after === undefined ? [] : clearedCredentials(before.credentials, after.credentials);
      const isPauseChanged = after !== undefined && isPaused(after) !== isPaused(before);
      return { version, store: { ...view, clearedCredentials: cleared }, isPauseChanged };
    }),
  );
  if (changed.isPauseChanged) await context.rotations.announceStore(id);
  return changed;
};
