import { Ignored, Unprocessable } from '../errors.ts';
import type { Credentials, ProviderSettings } from '../providers/adapter.ts';
import { fieldOf } from '../providers/payload-parsing.ts';
import { deliveryAdapters, identityAdapters, posAdapters, threeDSAdapters } from '../providers/registry.ts';
import { credentialsOf, type KnownStore } from './known-store.ts';

/** A provider of a store, and what the store has set for it. */
export interface Provider<A> {
  adapter: A;
  settings: ProviderSettings;
  /** Throws CredentialsUnreadable. */
  readonly credentials: Credentials;
}

/** A store as far as its providers need it. */
export type Configured = Pick<KnownStore, 'settings' | 'credentials'>;

const provider = <A>(
  adapters: ReadonlyMap<string, A>,
  settings: ProviderSettings,
  store: Configured,
  slot: string,
): Provider<A> => {
  const adapter = adapters.get(settings.kind);
  if (adapter === undefined) throw new Unprocessable(`There is no adapter for ${settings.kind}.`);
  return {
    adapter,
    settings,
    // Read late: many webhooks can be stored without them, even while they cannot be decrypted.
    get credentials() {
      return credentialsOf(store)[slot] ?? {};
    },
  };
};

/** The point of sale of a store. */
export const posOf = (store: Configured) => provider(posAdapters, store.settings.pos, store, 'pos');

/** The delivery provider of a store: the point of sale if it has no other. */
export const deliveryOf = (store: Configured) =>
  provider(deliveryAdapters, store.settings.delivery ?? { kind: 'pos' }, store, 'delivery');

/**
 * The provider of an identity event: the `service` of the body, or else the provider in the path if the body
 * has the provider's own shape, which has no such field.
 */
const identityKind = (service: string | null, body: unknown): string => {
  const named = fieldOf(body, 'service');
  if (typeof named === 'string' && named !== '') return named;
  if (service !== null && identityAdapters.get(service)?.recognises(body)) return service;
  throw new Unprocessable('The payload does not name its service.');
};

/**
 * The identity provider that an event comes from; `service` is the provider in its path. Throws Unprocessable or Ignored
 * if there is none.
 */
export const identityOf = (store: Configured, service: string | null, body: unknown) => {
  const kind = identityKind(service, body);
  const { identity } = store.settings;
  if (!identityAdapters.has(kind)) throw new Ignored('The service is not known.');
  const found = identity.find((one) => one.kind === kind);
  // Otherwise a body that names another provider would avoid the signature check of the store's own provider.
  if (found === undefined && identity.length > 0)
    throw new Ignored('The store has another identity provider.');
  return provider(identityAdapters, found ?? { kind }, store, `identity.${kind}`);
};

/** A 3DS provider of a store. Throws Unprocessable if the store has no such provider. */
export const threeDSOf = (store: Configured, kind: string) => {
  const settings = store.settings.payments.find((one) => one.kind === kind);
  if (settings === undefined) throw new Unprocessable('The store has no such 3DS provider.');
  return provider(threeDSAdapters, settings, store, `payments.${kind}`);
};
