import type { SecretBox } from '@platform/auth/secret-box';
import { Unavailable } from '@platform/service-kit/problem';

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

/** The credentials of a store. Throws CredentialsUnreadable. */
export const credentialsOf = ({
  credentials,
}: {
  credentials: StoreCredentials | undefined;
}): StoreCredentials => {
  if (credentials === undefined) throw new CredentialsUnreadable();
  return credentials;
};

/** The context that the sealed credentials of a store are bound to. */
export const credentialsContext = (storeId: string): string => `stores/${storeId}/credentials`;

/** Undefined: no key of SECRETS_KEY decrypts them. */
export const openCredentials = (
  box: SecretBox,
  { id, credentials }: { id: string; credentials: string },
): StoreCredentials | undefined => {
  try {
    return JSON.parse(box.open(credentials, credentialsContext(id))) as StoreCredentials;
  } catch {
    return undefined;
  }
};
