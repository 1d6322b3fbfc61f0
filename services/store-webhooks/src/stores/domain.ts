import { isDeepStrictEqual } from 'node:util';
import { hookEventNames, hookEvents, hooksPath, type HookEvent } from '../webhooks.ts';
import type { ProviderSettings } from '../providers/adapter.ts';
import { credentialsOf, providersBySlot, type StoreCredentials } from './known-store.ts';
import type { StoreInput, StorePatch } from './schema.ts';
import type { PaymentSettings, StoreSettings, TokenPurpose } from './settings.ts';

const settingsOf = ({ kind, baseUrl, mapping }: ProviderSettings): ProviderSettings => ({
  kind,
  baseUrl,
  mapping,
});

/** Without an `acceptStoreToken` in the input, the stored value stays, so that a new address does not turn it on again. */
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

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value after a JSON merge patch (RFC 7396). A list is replaced; fields that are null in its objects are left out. */
const mergePatch = (before: unknown, patch: unknown): unknown => {
  if (Array.isArray(patch)) return patch.map((item) => mergePatch(undefined, item));
  if (!isObject(patch)) return patch;
  const current = isObject(before) ? before : {};
  const changed = Object.entries(patch).map(([name, value]) => [name, mergePatch(current[name], value)]);
  const merged = Object.entries({ ...current, ...Object.fromEntries(changed) });
  return Object.fromEntries(merged.filter(([, value]) => value !== null));
};

/**
 * The fields of a store after a merge patch, to be validated like those of a new store. A provider of another kind is
 * another provider, so nothing of the stored one is kept.
 */
export const patchedFields = ({ name, storeUrl, settings }: StoredState, patch: StorePatch): unknown => {
  const isReplaced = (role: 'pos' | 'delivery') =>
    patch[role]?.kind !== undefined && patch[role].kind !== settings[role]?.kind;
  const { pos, delivery, ...others } = settings;
  return mergePatch(
    {
      name,
      storeUrl,
      ...others,
      ...(isReplaced('pos') ? {} : { pos }),
      ...(isReplaced('delivery') ? {} : { delivery }),
    },
    patch,
  );
};

/** Only webhookSecret, which verifies signatures and is never sent. Without it signatures are not checked. */
const onlyWebhookSecret = (credentials: Record<string, string> = {}): Record<string, string> | undefined =>
  credentials['webhookSecret'] === undefined ? undefined : { webhookSecret: credentials['webhookSecret'] };

/**
 * Credentials after a change: the stored ones of providers with the same kind and origin, merged with the sent ones. A new
 * origin keeps only the secret that verifies signatures, a new kind keeps nothing: a secret is never sent to an address that
 * was set later.
 */
const credentialsAfter = (
  before: StoredState | undefined,
  settings: StoreSettings,
  patch: StorePatch,
): StoreCredentials => {
  const sent = providersBySlot<NonNullable<StorePatch['pos']>>(patch);
  const earlier = providersBySlot<ProviderSettings>(before?.settings ?? {});
  const newCredentials: StoreCredentials = {};
  for (const [slot, after] of providersBySlot<ProviderSettings>(settings)) {
    const change = sent.get(slot)?.credentials;
    const storedCredentials = before?.credentials?.[slot];
    let keptCredentials: object | undefined;
    if (before !== undefined && isSameProvider(earlier.get(slot), after))
      // Sent credentials do not need the stored ones, so sending all again repairs a store with unreadable ones.
      keptCredentials = change === undefined ? credentialsOf(before)[slot] : storedCredentials;
    else if (earlier.get(slot)?.kind === after.kind) keptCredentials = onlyWebhookSecret(storedCredentials);
    const credentials = change === undefined ? keptCredentials : mergePatch(keptCredentials, change);
    if (isObject(credentials)) newCredentials[slot] = credentials as StoreCredentials[string];
  }
  return newCredentials;
};

/** Names of the credentials that a change removed, such as `pos.apiKey`. */
export const clearedCredentials = (before: StoreCredentials | undefined, after: StoreCredentials): string[] =>
  Object.entries(before ?? {}).flatMap(([slot, credentials]) =>
    Object.keys(credentials)
      .filter((name) => after[slot]?.[name] === undefined)
      .map((name) => `${slot}.${name}`),
  );

/**
 * The state of a store with these fields. For a change, `before` is the stored state and `sent` the patch. Throws
 * CredentialsUnreadable if the change needs stored credentials that cannot be decrypted.
 */
export const storeWith = (input: StoreInput, sent: StorePatch = input, before?: StoredState): StoreState => {
  const { name, storeUrl, pos, delivery, identity, payments, requestsPerMinute, ...others } = input;
  // Settings contain no credentials, although the providers in the input do.
  const settings: StoreSettings = {
    ...others,
    pos: settingsOf(pos),
    delivery: delivery && settingsOf(delivery),
    identity: identity.map(settingsOf),
    payments: payments.map((sentSettings) =>
      paymentSettingsOf(sentSettings, before?.settings.payments ?? []),
    ),
    requestsPerMinute: requestsPerMinute ?? undefined,
  };
  return { name, storeUrl, settings, credentials: credentialsAfter(before, settings, sent) };
};

/** Whether a change leaves a store as it is. */
export const isUnchanged = (
  { name, storeUrl, settings, credentials }: StoredState,
  after: StoreState,
): boolean =>
  // Compared as JSON, which omits undefined fields.
  isDeepStrictEqual({ name, storeUrl, settings, credentials }, JSON.parse(JSON.stringify(after)));

/** The provider in the address of an identity or payment event. */
const serviceOf = (event: HookEvent, { identity, payments }: StoreSettings): string => {
  const providers = event === 'payment-auth-completed' ? payments : identity;
  return providers[0]?.kind ?? '{service}';
};

/** The addresses to register at the providers, by event; events without a token in `tokens` are left out. */
export const webhookUrls = (
  publicUrl: string,
  settings: StoreSettings,
  tokens: Partial<Record<TokenPurpose, string>>,
): Record<string, string> =>
  Object.fromEntries(
    hookEventNames.flatMap((event) => {
      const token = tokens[event === 'payment-auth-completed' ? 'payments' : 'events'];
      if (token === undefined) return [];
      const serviceSegment = hookEvents[event].service ? `/${serviceOf(event, settings)}` : '';
      return [[event, `${publicUrl}${hooksPath}/${event}${serviceSegment}/${token}`]];
    }),
  );
