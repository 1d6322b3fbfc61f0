import { createAddressList, type AddressList } from '@platform/auth/addresses';
import type { SecretBox } from '@platform/auth/secret-box';
import { LRUCache } from 'lru-cache';
import { openCredentials, type StoreCredentials } from './credentials.ts';
import type { StoreSettings } from './settings.ts';

export interface StoreRow {
  id: string;
  name: string;
  storeUrl: string;
  settings: StoreSettings;
  credentials: string;
}

/** A store as receiving and processing need it. */
export interface KnownStore {
  id: string;
  name: string;
  storeUrl: string;
  settings: StoreSettings;
  /** Undefined: no key of SECRETS_KEY decrypts them. */
  credentials: StoreCredentials | undefined;
  /** The credentials as they are stored. */
  sealedCredentials: string;
  /** Whether webhooks may come from an address. */
  allows: AddressList;
}

const everybody: AddressList = () => true;

/** Opens rows of stores; what was opened is kept while the row does not change. */
export const createStoreOpener = (box: SecretBox): ((row: StoreRow) => KnownStore) => {
  const opened = new LRUCache<string, { from: string; store: KnownStore }>({ max: 5000 });
  return (row) => {
    const from = JSON.stringify(row);
    const known = opened.get(row.id);
    if (known?.from === from) return known.store;
    const { id, name, storeUrl, settings } = row;
    const { allowedAddresses } = settings;
    const store: KnownStore = {
      id,
      name,
      storeUrl,
      settings,
      credentials: openCredentials(box, row),
      sealedCredentials: row.credentials,
      allows: allowedAddresses.length === 0 ? everybody : createAddressList(allowedAddresses),
    };
    opened.set(id, { from, store });
    return store;
  };
};
