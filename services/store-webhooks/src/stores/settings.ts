import type { NotificationSettings } from '../notifications/schema.ts';
import type { ProviderSettings } from '../providers/adapter.ts';

/** Which webhooks accept a token: all of them, or only payment-auth-completed. */
export const tokenPurposes = ['events', 'payments'] as const;
export type TokenPurpose = (typeof tokenPurposes)[number];

export interface PaymentSettings extends ProviderSettings {
  /** False: payment-auth-completed accepts only the payments token. Unset: true. */
  acceptStoreToken?: boolean | undefined;
}

/** The settings of a store; nothing in them is secret. */
export interface StoreSettings {
  /** False: webhooks are recorded, but not processed. Unset: true. */
  active?: boolean | undefined;
  /** Currency of orders whose payload names none; unset: US dollars. A change does not affect stored orders. */
  currency?: string | undefined;
  pos: ProviderSettings;
  customerImportsEnabled: boolean;
  delivery?: ProviderSettings | undefined;
  identity: ProviderSettings[];
  payments: PaymentSettings[];
  notifications: NotificationSettings;
  /** Empty: webhooks are accepted from any address. */
  allowedAddresses: string[];
  requestsPerMinute?: number | undefined;
}

/** The state of a store in a change record: everything except its credentials. */
export interface StoreSnapshot extends StoreSettings {
  name: string;
  storeUrl: string;
  /** Set while the store is deleted and not yet erased. */
  deletedAt?: string | null;
}
