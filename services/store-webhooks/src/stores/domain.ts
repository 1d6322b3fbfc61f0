import { hookEventNames, hookEvents, hooksPath, type HookEvent } from '../hooks/events.ts';
import type { ProviderSettings } from '../providers/adapter.ts';
import type { ProviderInput, StoreChanges, StoreInput } from './schema.ts';
import type { StoreCredentials, StoreSettings } from './settings.ts';

const listOf = (given: ProviderInput | ProviderInput[] | undefined): ProviderInput[] =>
  given === undefined ? [] : Array.isArray(given) ? given : [given];

const settingsOf = ({ kind, baseUrl, mapping }: ProviderInput): ProviderSettings => ({
  kind,
  ...(baseUrl === undefined ? {} : { baseUrl }),
  ...(mapping === undefined ? {} : { mapping }),
});

export interface StoreState {
  name: string;
  storeUrl: string;
  settings: StoreSettings;
  credentials: StoreCredentials;
}

/** The slots that credentials are kept in: which provider each belongs to. */
const slots = ({ pos, delivery, identity, payments }: ProvidersGiven) => [
  ...(pos ? ([['pos', pos]] as const) : []),
  ...(delivery ? ([['delivery', delivery]] as const) : []),
  ...listOf(identity).map((one) => [`identity.${one.kind}`, one] as const),
  ...listOf(payments).map((one) => [`payments.${one.kind}`, one] as const),
];

interface ProvidersGiven {
  pos?: ProviderInput | undefined;
  delivery?: ProviderInput | null | undefined;
  identity?: ProviderInput | ProviderInput[] | undefined;
  payments?: ProviderInput | ProviderInput[] | undefined;
}

const kindIn = (settings: StoreSettings | undefined, slot: string): string | undefined =>
  slot === 'pos' ? settings?.pos.kind : slot === 'delivery' ? settings?.delivery?.kind : slot.split('.')[1];

/** Credentials after a change: those not sent again stay, as long as they are the same provider's. */
const mergedCredentials = (before: StoreState | undefined, given: ProvidersGiven): StoreCredentials => {
  const merged: StoreCredentials = { ...before?.credentials };
  for (const [slot, { kind, credentials }] of slots(given)) {
    if (credentials !== undefined) merged[slot] = credentials;
    else if (kindIn(before?.settings, slot) !== kind) delete merged[slot];
  }
  if (given.delivery === null) delete merged['delivery'];
  return merged;
};

/** A store as it is created. */
export const newStore = (input: StoreInput): StoreState => ({
  name: input.name,
  storeUrl: input.storeUrl,
  settings: {
    pos: settingsOf(input.pos),
    customerImportsEnabled: input.customerImportsEnabled,
    ...(input.delivery ? { delivery: settingsOf(input.delivery) } : {}),
    identity: listOf(input.identity).map(settingsOf),
    payments: listOf(input.payments).map(settingsOf),
    notifications: input.notifications ?? {},
    allowedAddresses: input.allowedAddresses ?? [],
    ...(input.requestsPerMinute ? { requestsPerMinute: input.requestsPerMinute } : {}),
  },
  credentials: mergedCredentials(undefined, input),
});

/** A store after a change; what the change does not name stays. */
export const changedStore = (before: StoreState, change: StoreChanges): StoreState => {
  const { delivery: oldDelivery, requestsPerMinute: oldLimit, ...settings } = before.settings;
  const delivery =
    change.delivery === undefined ? oldDelivery : change.delivery && settingsOf(change.delivery);
  const limit = change.requestsPerMinute === undefined ? oldLimit : change.requestsPerMinute;
  return {
    name: change.name ?? before.name,
    storeUrl: change.storeUrl ?? before.storeUrl,
    settings: {
      ...settings,
      ...(change.pos ? { pos: settingsOf(change.pos) } : {}),
      ...(change.customerImportsEnabled === undefined
        ? {}
        : { customerImportsEnabled: change.customerImportsEnabled }),
      ...(delivery ? { delivery } : {}),
      ...(change.identity ? { identity: listOf(change.identity).map(settingsOf) } : {}),
      ...(change.payments ? { payments: listOf(change.payments).map(settingsOf) } : {}),
      ...(change.notifications ? { notifications: change.notifications } : {}),
      ...(change.allowedAddresses ? { allowedAddresses: change.allowedAddresses } : {}),
      ...(limit ? { requestsPerMinute: limit } : {}),
    },
    credentials: mergedCredentials(before, change),
  };
};

/** Which provider's name stands in the address of an event, where one does. */
const serviceOf = (event: HookEvent, { identity, payments }: StoreSettings): string => {
  const set = event === 'payment-auth-completed' ? payments : identity;
  return set[0]?.kind ?? '{service}';
};

/** What is registered at the providers, by event. */
export const webhookUrls = (
  publicUrl: string,
  settings: StoreSettings,
  token: string,
): Record<string, string> =>
  Object.fromEntries(
    hookEventNames.map((event) => {
      const middle = hookEvents[event].service ? `/${serviceOf(event, settings)}` : '';
      return [event, `${publicUrl.replace(/\/+$/, '')}${hooksPath}/${event}${middle}/${token}`];
    }),
  );
