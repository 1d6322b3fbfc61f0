import type { PathTokenRow } from '@platform/auth/path-tokens';
import type { SecretBox } from '@platform/auth/secret-box';
import type { Database } from '@platform/service-kit/db';
import { createLru } from '@platform/service-kit/lru';
import { Unavailable } from '@platform/service-kit/problem';
import { eq, sql } from 'drizzle-orm';
import { stores, webhookTokens, type StoreRow } from '../db/tables.ts';
import { Ignored, Unprocessable } from '../errors.ts';
import type { Credentials, ProviderSettings } from '../providers/adapter.ts';
import { defaultCurrency } from '../providers/money.ts';
import { fieldOf } from '../providers/payload-parsing.ts';
import { deliveryAdapters, identityAdapters, posAdapters, threeDSAdapters } from '../providers/registry.ts';
import { createAddressList, type AddressList } from './address-list.ts';
import type { TokenPurpose } from './settings.ts';

export const providerRoles = ['pos', 'delivery', 'identity', 'payments'] as const;
export type ProviderRole = (typeof providerRoles)[number];

/** The name under which the credentials of a provider are stored; `identity` and `payments` have one per kind of provider. */
export const slotOf = (role: ProviderRole, { kind }: { kind?: string | undefined }): string =>
  role === 'pos' || role === 'delivery' ? role : `${role}.${kind}`;

/** The providers of a store by slot (see `slotOf`). */
export const providersBySlot = <T extends { kind?: string | undefined }>(
  providers: Partial<Record<ProviderRole, T | readonly T[] | null | undefined>>,
): Map<string, T> =>
  new Map(
    providerRoles.flatMap((role) =>
      [providers[role] ?? []]
        .flat()
        .map((provider): [string, T] => [slotOf(role, provider as T), provider as T]),
    ),
  );

/** Credentials and secrets of a store's providers, by slot (see `slotOf`). */
export type StoreCredentials = Record<string, Record<string, string>>;

/** 503: an operator can restore the missing key, so webhooks and changes may succeed later. */
export class CredentialsUnreadable extends Unavailable {
  constructor() {
    super(
      'credentials_unreadable',
      'The credentials of the store cannot be decrypted; check SECRETS_KEY.',
      undefined,
      60,
    );
  }
}

/** A store with its decrypted credentials, as receiving and processing need it. */
export interface KnownStore extends Omit<StoreRow, 'credentials'> {
  /** Undefined if no key of SECRETS_KEY decrypts them. */
  credentials: StoreCredentials | undefined;
  /** The row that it was created from. */
  row: StoreRow;
  /** Whether webhooks are accepted from an address. */
  allows: AddressList;
}

/** Whether webhooks of a store are recorded, but not processed. */
export const isPaused = ({ settings }: Pick<KnownStore, 'settings'>): boolean => settings.active === false;

/** Why the events of a paused store are ignored. */
export const storePaused = 'store_paused';

/** The credentials of a store. Throws CredentialsUnreadable. */
export const credentialsOf = ({ credentials }: Pick<KnownStore, 'credentials'>): StoreCredentials => {
  if (credentials === undefined) throw new CredentialsUnreadable();
  return credentials;
};

/** The context that the sealed credentials of a store are bound to. */
export const credentialsContext = (storeId: string): string => `stores/${storeId}/credentials`;

const openCredentials = (box: SecretBox, { id, credentials }: StoreRow): StoreCredentials | undefined => {
  const opened = box.open(credentials, credentialsContext(id));
  return opened === undefined ? undefined : (JSON.parse(opened) as StoreCredentials);
};

const allowAll: AddressList = () => true;

/** Returns a function that decrypts the credentials of a store. Results are cached until the row changes. */
export const createStoreOpener = (box: SecretBox): ((row: StoreRow) => KnownStore) => {
  const opened = createLru<string, { rowJson: string; store: KnownStore }>(5000);
  return (row) => {
    const { updatedAt, ...content } = row;
    const rowJson = JSON.stringify(content);
    const cached = opened.get(row.id);
    // A token rotation only changes `updatedAt`, so the opened store is reused.
    if (cached?.rowJson === rowJson)
      return cached.store.updatedAt === updatedAt
        ? cached.store
        : { ...cached.store, updatedAt, row: { ...cached.store.row, updatedAt } };
    const { allowedAddresses } = row.settings;
    const store: KnownStore = {
      ...row,
      row,
      credentials: openCredentials(box, row),
      allows: allowedAddresses.length === 0 ? allowAll : createAddressList(allowedAddresses),
    };
    opened.set(row.id, { rowJson, store });
    return store;
  };
};

/** SQL for when a token stops working: when its grace period ends or when its store was deleted, the earlier of both; else null. */
export const worksUntil = sql<string | null>`least(${webhookTokens.graceUntil}, ${stores.deletedAt})`.mapWith(
  webhookTokens.graceUntil,
);

/** A webhook token and its store. */
export interface TokenRow extends PathTokenRow {
  store: KnownStore;
  purpose: TokenPurpose;
}

/** Returns a function that finds a token and its store by the token's hash. */
export const createTokenFinder = ({ orm }: Database, open: (row: StoreRow) => KnownStore) => {
  const query = orm
    .select({
      tokenHash: webhookTokens.tokenHash,
      purpose: webhookTokens.purpose,
      graceUntil: worksUntil,
      store: stores,
    })
    .from(webhookTokens)
    .innerJoin(stores, eq(stores.id, webhookTokens.storeId))
    .where(eq(webhookTokens.tokenHash, sql.placeholder('hash')))
    .prepare('find_token');
  return async (hash: string): Promise<TokenRow | undefined> => {
    const [row] = await query.execute({ hash });
    return row && { ...row, store: open(row.store) };
  };
};

/** A provider of a store, with the store's settings for it. */
export interface Provider<A> {
  adapter: A;
  settings: ProviderSettings;
  /** Currency of the store, for orders whose payload names none. */
  currency: string;
  /** Throws CredentialsUnreadable. */
  readonly credentials: Credentials;
}

/** The fields of a store that its providers need. */
export type ConfiguredStore = Pick<KnownStore, 'settings' | 'credentials'>;

/** The currency of a store. */
export const currencyOf = ({ settings }: Pick<KnownStore, 'settings'>): string =>
  settings.currency ?? defaultCurrency;

const createProvider = <A>(
  adapters: ReadonlyMap<string, A>,
  settings: ProviderSettings,
  store: ConfiguredStore,
  role: ProviderRole,
): Provider<A> => {
  const adapter = adapters.get(settings.kind);
  if (adapter === undefined) throw new Unprocessable(`There is no adapter for ${settings.kind}.`);
  return {
    adapter,
    settings,
    currency: currencyOf(store),
    // Read on access: many webhooks can be stored without credentials, even if these cannot be decrypted.
    get credentials() {
      return credentialsOf(store)[slotOf(role, settings)] ?? {};
    },
  };
};

/** The point of sale of a store. */
export const posOf = (store: ConfiguredStore) => {
  const pos = createProvider(posAdapters, store.settings.pos, store, 'pos');
  const { baseUrl = pos.adapter.baseUrl } = pos.settings;
  return Object.assign(pos, { settings: { ...pos.settings, baseUrl } });
};

/** The delivery provider of a store; the point of sale if no other is set. */
export const deliveryOf = (store: ConfiguredStore) =>
  createProvider(deliveryAdapters, store.settings.delivery ?? { kind: 'pos' }, store, 'delivery');

/**
 * The kind of the provider of an identity event: `service` in the body, or else the provider in the path if the body has that
 * provider's own format, which has no such field.
 */
const identityKind = (service: string | null, body: unknown): string => {
  const bodyService = fieldOf(body, 'service');
  if (typeof bodyService === 'string' && bodyService !== '') return bodyService;
  if (service !== null && identityAdapters.get(service)?.recognises(body)) return service;
  throw new Unprocessable('The payload does not name its service.');
};

/**
 * The identity provider that an event comes from; `service` is the provider in its path. Throws Unprocessable or Ignored
 * if there is none.
 */
export const identityOf = (store: ConfiguredStore, service: string | null, body: unknown) => {
  const kind = identityKind(service, body);
  const { identity } = store.settings;
  if (!identityAdapters.has(kind)) throw new Ignored('The service is not known.');
  const settings = identity.find((configured) => configured.kind === kind);
  // Otherwise a body that names another provider would bypass the signature check of the store's own provider.
  if (settings === undefined && identity.length > 0)
    throw new Ignored('The store has another identity provider.');
  return createProvider(identityAdapters, settings ?? { kind }, store, 'identity');
};

/** A 3DS provider of a store. Throws Unprocessable if the store has no such provider. */
export const threeDSOf = (store: ConfiguredStore, kind: string) => {
  const settings = store.settings.payments.find((configured) => configured.kind === kind);
  if (settings === undefined) throw new Unprocessable('The store has no such 3DS provider.');
  return createProvider(threeDSAdapters, settings, store, 'payments');
};
