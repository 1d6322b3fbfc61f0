import type { ProviderSettings } from '../providers/adapter.ts';

/** What a store has set; all of it may be shown. */
export interface StoreSettings {
  pos: ProviderSettings;
  customerImportsEnabled: boolean;
  delivery?: ProviderSettings | undefined;
  identity: ProviderSettings[];
  payments: ProviderSettings[];
  notifications: { email?: string | undefined };
  /** Empty: everybody who has the token. */
  allowedAddresses: string[];
  requestsPerMinute?: number | undefined;
}

/** What of a store's providers must never be shown, by `pos`, `delivery`, `identity.<kind>`, `payments.<kind>`. */
export type StoreCredentials = Record<string, Record<string, string>>;
