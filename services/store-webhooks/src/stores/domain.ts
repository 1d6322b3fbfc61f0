import { hookEventNames, hookEvents, hooksPath, type HookEvent } from '../webhooks.ts';
import type { ProviderSettings } from '../providers/adapter.ts';
import { credentialsOf, providersBySlot, type StoreCredentials } from './known-store.ts';
import type { ProviderInput, StoreChanges, StoreInput } from './schema.ts';
import type { PaymentSettings, StoreSettings, TokenPurpose } from './settings.ts';

const settingsOf = ({ kind, baseUrl, mapping }: ProviderSettings): ProviderSettings => ({
  kind,
  baseUrl,
  mapping,
});

/** An `acceptStoreToken` that is not sent keeps its value, so that a new address does not turn it on again. */
const paymentSettingsOf = (input: PaymentSettings, before: readonly PaymentSettings[]): PaymentSettings => ({
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
  given: StoreChanges,
): StoreCredentials => {
  const sent = providersBySlot<ProviderInput>(given);
  const earlier = providersBySlot<ProviderSettings>(before.settings);
  const kept: StoreCredentials = {};
  for (const [slot, after] of providersBySlot<ProviderSettings>(settings)) {
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
  const { name = before.name, storeUrl = before.storeUrl, ...given } = change;
  const sent = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const merged: StoreSettings = { ...before.settings, ...(sent as Partial<StoreSettings>) };
  // Without the credentials that came with the providers.
  const settings: StoreSettings = {
    ...merged,
    pos: settingsOf(merged.pos),
    delivery: merged.delivery && settingsOf(merged.delivery),
    identity: merged.identity.map(settingsOf),
    payments: merged.payments.map((one) => paymentSettingsOf(one, before.settings.payments)),
  };
  return { name, storeUrl, settings, credentials: credentialsAfter(before, settings, change) };
};

/** The first state of a store. */
export const newStore = (input: StoreInput): StoreState => changedStore(empty, input);

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
