import { hookEventNames, hookEvents, hooksPath, type HookEvent } from '../webhooks.ts';
import type { ProviderSettings } from '../providers/adapter.ts';
import { credentialsOf, type StoreCredentials } from './known-store.ts';
import type { PaymentInput, ProviderInput, StoreChanges, StoreInput } from './schema.ts';
import type { PaymentSettings, StoreSettings, TokenPurpose } from './settings.ts';

const settingsOf = ({ kind, baseUrl, mapping }: ProviderInput): ProviderSettings => ({
  kind,
  baseUrl,
  mapping,
});

/** An `acceptStoreToken` that is not sent keeps its value, so that a new address does not turn it on again. */
const paymentSettingsOf = (input: PaymentInput, before: readonly PaymentSettings[]): PaymentSettings => ({
  ...settingsOf(input),
  acceptStoreToken:
    input.acceptStoreToken ?? before.find(({ kind }) => kind === input.kind)?.acceptStoreToken ?? true,
});

export interface StoreState {
  name: string;
  storeUrl: string;
  settings: StoreSettings;
  credentials: StoreCredentials;
}

/** A stored store; its credentials are undefined if they cannot be decrypted. */
type StoredState = Omit<StoreState, 'credentials'> & { credentials: StoreCredentials | undefined };

interface Providers<T> {
  pos?: T | undefined;
  delivery?: T | null | undefined;
  identity?: readonly T[] | undefined;
  payments?: readonly T[] | undefined;
}

/** The providers of a store by the name under which their credentials are kept. */
const bySlot = <T extends { kind: string }>({ pos, delivery, identity = [], payments = [] }: Providers<T>) =>
  new Map<string, T>([
    ...(pos ? [['pos', pos] as const] : []),
    ...(delivery ? [['delivery', delivery] as const] : []),
    ...identity.map((one) => [`identity.${one.kind}`, one] as const),
    ...payments.map((one) => [`payments.${one.kind}`, one] as const),
  ]);

const originOf = ({ baseUrl }: ProviderSettings): string | undefined =>
  baseUrl === undefined ? undefined : new URL(baseUrl).origin;

/** Whether credentials for `before` may be sent to `after`. */
const isSameProvider = (before: ProviderSettings | undefined, after: ProviderSettings): boolean =>
  before?.kind === after.kind && originOf(before) === originOf(after);

/**
 * Credentials after a change: those that were sent, and the stored ones of providers whose kind and origin
 * stay the same. All others are removed, so that nobody can send a secret to an address of their own.
 */
const credentialsAfter = (
  before: StoredState,
  settings: StoreSettings,
  given: Providers<ProviderInput>,
): StoreCredentials => {
  const sent = bySlot(given);
  const earlier = bySlot<ProviderSettings>(before.settings);
  const kept: StoreCredentials = {};
  for (const [slot, after] of bySlot<ProviderSettings>(settings)) {
    const stored = () => (isSameProvider(earlier.get(slot), after) ? credentialsOf(before)[slot] : undefined);
    const credentials = sent.get(slot)?.credentials ?? stored();
    if (credentials !== undefined) kept[slot] = credentials;
  }
  return kept;
};

/** Names of the credentials that a change removed, such as `pos.apiKey`. */
export const clearedCredentials = (before: StoreCredentials | undefined, after: StoreCredentials): string[] =>
  Object.entries(before ?? {}).flatMap(([slot, credentials]) =>
    Object.keys(credentials)
      .filter((name) => after[slot]?.[name] === undefined)
      .map((name) => `${slot}.${name}`),
  );

const empty: StoreState = {
  name: '',
  storeUrl: '',
  settings: {
    pos: { kind: '' },
    customerImportsEnabled: false,
    identity: [],
    payments: [],
    notifications: {},
    allowedAddresses: [],
  },
  credentials: {},
};

/** A store after a change; what the change does not name stays. Throws CredentialsUnreadable if that needs them. */
export const changedStore = (before: StoredState, change: StoreChanges): StoreState => {
  const { settings: old } = before;
  const { pos, delivery, identity, payments } = change;
  const settings: StoreSettings = {
    pos: pos ? settingsOf(pos) : old.pos,
    customerImportsEnabled: change.customerImportsEnabled ?? old.customerImportsEnabled,
    delivery: delivery === undefined ? old.delivery : delivery && settingsOf(delivery),
    identity: identity?.map(settingsOf) ?? old.identity,
    payments: payments?.map((one) => paymentSettingsOf(one, old.payments)) ?? old.payments,
    notifications: change.notifications ?? old.notifications,
    allowedAddresses: change.allowedAddresses ?? old.allowedAddresses,
    requestsPerMinute:
      change.requestsPerMinute === undefined ? old.requestsPerMinute : change.requestsPerMinute,
  };
  return {
    name: change.name ?? before.name,
    storeUrl: change.storeUrl ?? before.storeUrl,
    settings,
    credentials: credentialsAfter(before, settings, change),
  };
};

/** The first state of a store. */
export const newStore = (input: StoreInput): StoreState => changedStore(empty, input);

/**
 * Whether a token opens the address of an event. The payments token goes through the browsers of
 * customers, so it opens nothing but payment-auth-completed.
 */
export const tokenOpens = (purpose: TokenPurpose, event: HookEvent, { payments }: StoreSettings): boolean =>
  event === 'payment-auth-completed'
    ? purpose === 'payments' || payments.every(({ acceptStoreToken }) => acceptStoreToken !== false)
    : purpose === 'events';

/** The provider in the address of an identity or payment event. */
const serviceOf = (event: HookEvent, { identity, payments }: StoreSettings): string => {
  const set = event === 'payment-auth-completed' ? payments : identity;
  return set[0]?.kind ?? '{service}';
};

/** The addresses to register at the providers, by event; events whose token is not given are left out. */
export const webhookUrls = (
  publicUrl: string,
  settings: StoreSettings,
  tokens: Partial<Record<TokenPurpose, string>>,
): Record<string, string> =>
  Object.fromEntries(
    hookEventNames.flatMap((event) => {
      const token = tokens[event === 'payment-auth-completed' ? 'payments' : 'events'];
      if (token === undefined) return [];
      const middle = hookEvents[event].service ? `/${serviceOf(event, settings)}` : '';
      return [[event, `${publicUrl}${hooksPath}/${event}${middle}/${token}`]];
    }),
  );
