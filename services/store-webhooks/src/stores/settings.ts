import type { NotificationSettings } from '../notifications/schema.ts';
import type { ProviderSettings } from '../providers/adapter.ts';

/** Which webhooks a token opens: all of them, or only payment-auth-completed. */
export const tokenPurposes = ['events', 'payments'] as const;
export type TokenPurpose = (typeof tokenPurposes)[number];

export interface PaymentSettings extends ProviderSettings {
  /** False: payment-auth-completed is opened by the payments token only. Unset: true. */
  acceptStoreToken?: boolean | undefined;
}

/** The settings of a store; all of them may be shown. */
export interface StoreSettings {
  /** False: webhooks are recorded, but not processed. Unset: true. */
  active?: boolean | undefined;
  /** For orders whose payload names none; unset: US dollars. Stored orders keep theirs. */
  currency?: string | undefined;
  pos: ProviderSettings;
  customerImportsEnabled: boolean;
  delivery?: ProviderSettings | undefined;
  identity: ProviderSettings[];
  payments: PaymentSettings[];
  notifications: NotificationSettings;
  /** Empty: webhooks may come from any address. */
  allowedAddresses: string[];
  requestsPerMinute?: number | undefined;
}

/** What a record of a change keeps of a store: everything but its credentials. */
export interface StoreSnapshot extends StoreSettings {
  name: string;
  storeUrl: string;
  /** Set while the store is deleted and not yet erased. */
  deletedAt?: string | null;
}
