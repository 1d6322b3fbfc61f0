import type { z } from 'zod';
import type { Context } from '../context.ts';
import type { ProviderSettings } from '../providers/adapter.ts';
import { isoOf, isoOrNull } from '../time.ts';
import type { StoreView } from './schema.ts';
import type { FullStoreRow, TokenInfo } from './store.ts';

/** Stores as the interface shows them: of credentials only the names. */
export const viewsOf = (
  { openStore }: Context,
  rows: readonly FullStoreRow[],
  tokens: readonly TokenInfo[],
): z.input<typeof StoreView>[] => {
  const ofStore = Map.groupBy(tokens, ({ storeId }) => storeId);
  return rows.map((row) => {
    const { settings, credentials } = openStore(row);
    const provider = (slot: string, set: ProviderSettings) => ({
      ...set,
      credentials: Object.keys(credentials?.[slot] ?? {}),
    });
    return {
      id: row.id,
      name: row.name,
      storeUrl: row.storeUrl,
      pos: provider('pos', settings.pos),
      customerImportsEnabled: settings.customerImportsEnabled,
      delivery: settings.delivery ? provider('delivery', settings.delivery) : null,
      identity: settings.identity.map((one) => provider(`identity.${one.kind}`, one)),
      payments: settings.payments.map((one) => ({
        ...provider(`payments.${one.kind}`, one),
        acceptStoreToken: one.acceptStoreToken !== false,
      })),
      notifications: settings.notifications,
      allowedAddresses: settings.allowedAddresses,
      requestsPerMinute: settings.requestsPerMinute ?? null,
      webhookTokens: (ofStore.get(row.id) ?? []).map(
        ({ purpose, createdAt, graceUntil, uses, lastUsedAt }) => ({
          for: purpose,
          current: graceUntil === null,
          createdAt: isoOf(createdAt),
          worksUntil: isoOrNull(graceUntil),
          uses: Number(uses),
          lastUsedAt: isoOrNull(lastUsedAt),
        }),
      ),
      credentialsState: credentials === undefined ? 'unreadable' : 'readable',
      createdAt: isoOf(row.createdAt),
      updatedAt: isoOf(row.updatedAt),
    };
  });
};
