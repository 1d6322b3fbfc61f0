import type { Executor } from '@platform/service-kit/db';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import type { StoreRow } from '../db/tables.ts';
import type { ProviderSettings } from '../providers/adapter.ts';
import type { StoreView } from './schema.ts';
import { deliveryAdapters, identityAdapters, posAdapters, threeDSAdapters } from '../providers/registry.ts';
import { tokensOf } from './queries.ts';
import { currencyOf, isPaused, slotOf, type ProviderRole } from './known-store.ts';

const adaptersOf = {
  pos: posAdapters,
  delivery: deliveryAdapters,
  identity: identityAdapters,
  payments: threeDSAdapters,
} satisfies Record<ProviderRole, unknown>;

/** The views of stores, without the values of their credentials and tokens. */
export const showStores = async (
  { openStore }: Pick<Context, 'openStore'>,
  rows: readonly StoreRow[],
  db: Executor,
): Promise<z.input<typeof StoreView>[]> => {
  const tokens = await tokensOf(
    db,
    rows.map(({ id }) => id),
  );
  const tokensByStore = Map.groupBy(tokens, ({ storeId }) => storeId);
  return rows.map((row) => {
    const { settings, credentials } = openStore(row);
    const { pos, delivery, identity, payments, notifications } = settings;
    const show = (role: ProviderRole, provider: ProviderSettings) => ({
      ...provider,
      credentials: Object.keys(credentials?.[slotOf(role, provider)] ?? {}),
      credentialNames: Object.keys(adaptersOf[role].get(provider.kind)?.credentials?.shape ?? {}),
    });
    return {
      // The response contains only the fields that its schema names, so not the stored `credentials`.
      ...row,
      ...settings,
      active: !isPaused(row),
      currency: currencyOf(row),
      pos: show('pos', pos),
      delivery: delivery ? show('delivery', delivery) : null,
      identity: identity.map((provider) => show('identity', provider)),
      payments: payments.map((provider) => ({
        ...show('payments', provider),
        acceptStoreToken: provider.acceptStoreToken !== false,
      })),
      notifications: {
        ...notifications,
        // Deprecated: `oldEmail` in notifications/schema.ts.
        email: notifications.staff?.email,
        staff: notifications.staff ?? null,
      },
      requestsPerMinute: settings.requestsPerMinute ?? null,
      webhookTokens: (tokensByStore.get(row.id) ?? []).map((token) => ({
        ...token,
        for: token.purpose,
        current: token.worksUntil === null,
      })),
      credentialsState: credentials === undefined ? 'unreadable' : 'readable',
    };
  });
};
