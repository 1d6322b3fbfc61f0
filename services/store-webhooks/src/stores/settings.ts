import type { ProviderSettings } from '../providers/adapter.ts';

/** Which webhooks a token opens: all of them, or only payment-auth-completed. */
export const tokenPurposes = ['events', 'payments'] as const;
export type TokenPurpose = (typeof tokenPurposes)[number];

export interface PaymentSettings extends ProviderSettings {
  /** False: payment-auth-completed is opened by the payments token only. Unset: true. */
  acceptStoreToken?: boolean | undefined;
}

/** What a store has set; all of it may be shown. */
export interface StoreSettings {
  pos: ProviderSettings;
  customerImportsEnabled: boolean;
  delivery?: ProviderSettings | undefined;
  identity: ProviderSettings[];
  payments: PaymentSettings[];
  notifications: { email?: string | undefined };
  /** Empty: everybody who has the token. */
  allowedAddresses: string[];
  requestsPerMinute?: number | undefined;
}
