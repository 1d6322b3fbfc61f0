import { equal } from '@platform/auth/equal';
import { macFor } from './sessions/refresh-token.ts';
import type { SigningKeys } from './sessions/signing-keys.ts';

/** What a code is for: a row, and the row that it belongs to. */
export interface Coded {
  owner: string;
  id: string;
}

/** What `createCodes` makes. */
export type Codes = ReturnType<typeof createCodes>;

/**
 * Secrets that people get by mail: the ids of a row, and an HMAC-SHA256 over both under a key for this purpose. So none is
 * stored, and each can be made again while its row is there (docs/adr/0141, 0184).
 */
export const createCodes = ([current, ...others]: SigningKeys, purpose: string) => {
  const writerFor = (key: typeof current) => {
    const mac = macFor(key, purpose);
    return ({ owner, id }: Coded): string => {
      const ids = `${owner}.${id}`;
      return `${ids}.${mac(Buffer.from(ids)).toString('base64url')}`;
    };
  };
  const codeOf = writerFor(current);
  const writers = [codeOf, ...others.map(writerFor)];
  return {
    codeOf,
    /** Undefined for a code that this service has not made. */
    read: (code: string): Coded | undefined => {
      const [owner = '', id = ''] = code.split('.');
      const isOurs = writers.some((write) => equal(write({ owner, id }), code));
      return isOurs ? { owner, id } : undefined;
    },
  };
};
