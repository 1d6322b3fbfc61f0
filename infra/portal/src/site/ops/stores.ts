import type { WebhooksResponse } from './api.ts';
import type { Session } from './session.ts';

/** Names of stores by id; a name that several stores have is followed by the end of the id. Empty if the token may not read stores. */
export const storeNames = async (session: Session): Promise<Map<string, string>> => {
  if (!session.may('stores:read')) return new Map();
  const { stores } = await session.ask<WebhooksResponse<'listStores'>>('/v1/stores?limit=200');
  const isShared = (name: string) => stores.filter((store) => store.name === name).length > 1;
  return new Map(stores.map(({ id, name }) => [id, isShared(name) ? `${name} (…${id.slice(-4)})` : name]));
};

/** Stands for all stores in place of an id, as in the API. */
export const everyStore = '-';

/** The path of the webhooks of a store in the API. */
export const eventsOf = (storeId: string): string => `/v1/stores/${encodeURIComponent(storeId)}/events`;
