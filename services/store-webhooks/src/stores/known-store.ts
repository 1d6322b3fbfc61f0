import { createAddressList, type AddressList } from '@platform/auth/addresses';
import type { SecretBox } from '@platform/auth/secret-box';
import { createLru } from '@platform/service-kit/lru';
import { Unavailable } from '@platform/service-kit/problem';
import type { StoreRow } from '../db/tables.ts';

/** Credentials and secrets of a store's providers, by `pos`, `delivery`, `identity.<kind>`, `payments.<kind>`. */
export type StoreCredentials = Record<string, Record<string, string>>;

/** 503: an operator can restore the missing key, so webhooks and changes may succeed later. */
export class CredentialsUnreadable extends Unavailable {
  constructor() {
    super(
      'credentials_unreadable',
      'The credentials of the store cannot be decrypted; check SECRETS_KEY.',
      undefined,
      60,
    );
  }
}

/** A store as receiving and processing need it. */
export interface KnownStore extends Omit<StoreRow, 'credentials'> {
  /** Undefined: no key of SECRETS_KEY decrypts them. */
  credentials: StoreCredentials | undefined;
  /** The row that it was created from. */
  row: StoreRow;
  /** Whether webhooks may come from an address. */
  allows: AddressList;
}

/** The credentials of a store. Throws CredentialsUnreadable. */
export const credentialsOf = ({ credentials }: Pick<KnownStore, 'credentials'>): StoreCredentials => {
  if (credentials === undefined) throw new CredentialsUnreadable();
  return credentials;
};

/** The context that the sealed credentials of a store are bound to. */
export const credentialsContext = (storeId: string): string => `stores/${storeId}/credentials`;

const openCredentials = (box: SecretBox, { id, credentials }: StoreRow): StoreCredentials | undefined => {
  try {
    return JSON.parse(box.open(credentials, credentialsContext(id))) as StoreCredentials;
  } catch {
    return undefined;
  }
};

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
