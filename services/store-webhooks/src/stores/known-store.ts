import { createAddressList, type AddressList } from '@platform/auth/addresses';
import type { SecretBox } from '@platform/auth/secret-box';
import { createLru } from '@platform/service-kit/lru';
import { openCredentials, type StoreCredentials } from './credentials.ts';
import type { StoreRow } from './queries.ts';

/** A store as receiving and processing need it. */
export interface KnownStore extends Omit<StoreRow, 'credentials'> {
  /** Undefined: no key of SECRETS_KEY decrypts them. */
  credentials: StoreCredentials | undefined;
  /** The row that it was created from. */
  row: StoreRow;
  /** Whether webhooks may come from an address. */
  allows: AddressList;
}

const allowAll: AddressList = () => true;

/** Decrypts the credentials of stores. The result is cached until the row changes. */
export const createStoreOpener = (box: SecretBox): ((row: StoreRow) => KnownStore) => {
  const opened = createLru<string, { from: string; store: KnownStore }>(5000);
  return (row) => {
    const from = JSON.stringify(row);
    const known = opened.get(row.id);
    if (known?.from === from) return known.store;
    const { allowedAddresses } = row.settings;
    const store: KnownStore = {
      ...row,
      row,
      credentials: openCredentials(box, row),
      allows: allowedAddresses.length === 0 ? allowAll : createAddressList(allowedAddresses),
    };
    opened.set(row.id, { from, store });
    return store;
  };
};
