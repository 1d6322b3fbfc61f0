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
  pos: ProviderSettings;
  customerImportsEnabled: boolean;
  delivery?: ProviderSettings | null | undefined;
  identity: ProviderSettings[];
  payments: PaymentSettings[];
  notifications: { email?: string | undefined };
  /** Empty: webhooks may come from any address. */
  allowedAddresses: string[];
  requestsPerMinute?: number | null | undefined;
}

/** What a record of a change keeps of a store: everything but its credentials. */
export interface StoreSnapshot extends StoreSettings {
  name: string;
  storeUrl: string;
}

export const providerRoles = ['pos', 'delivery', 'identity', 'payments'] as const;
export type ProviderRole = (typeof providerRoles)[number];

/** The name under which the credentials of a provider are kept: `identity` and `payments` have one of each kind. */
export const slotOf = (role: ProviderRole, { kind }: { kind: string }): string =>
  role === 'pos' || role === 'delivery' ? role : `${role}.${kind}`;

/** The providers of a store by the name under which their credentials are kept. */
export const providersBySlot = <T extends { kind: string }>(
  providers: Partial<Record<ProviderRole, T | readonly T[] | null | undefined>>,
): Map<string, T> =>
  new Map(
    providerRoles.flatMap((role) =>
      [providers[role] ?? []]
        .flat()
        .map((provider): [string, T] => [slotOf(role, provider as T), provider as T]),
    ),
  );
