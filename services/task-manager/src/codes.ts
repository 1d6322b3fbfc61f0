import { equal } from '@platform/auth/equal';
import { macFor } from './sessions/refresh-token.ts';
import type { SigningKeys } from './sessions/signing-keys.ts';

/** The row that a code identifies, and the row that it belongs to: a list for an invitation. */
export interface CodedRow {
  parentId: string;
  id: string;
}

/** Writer and reader of codes created by `createCodes`. */
export type Codes = ReturnType<typeof createCodes>;

/**
 * Creates and checks the codes that users receive by mail. A code consists of the ids of a row and an HMAC-SHA256 over them with
 * a key for this purpose. So no code is stored, and it can be created again while its row exists (docs/adr/0141, 0184).
 */
export const createCodes = ([currentKey, ...olderKeys]: SigningKeys, purpose: string) => {
  const writerFor = (key: typeof currentKey) => {
    const mac = macFor(key, purpose);
    return ({ parentId, id }: CodedRow): string => {
      const ids = `${parentId}.${id}`;
      return `${ids}.${mac(Buffer.from(ids)).toString('base64url')}`;
    };
  };
  const codeOf = writerFor(currentKey);
  const writers = [codeOf, ...olderKeys.map(writerFor)];
  return {
    codeOf,
    /** Returns the ids in a code. Undefined when this service did not create the code. */
    read: (code: string): CodedRow | undefined => {
      const [parentId = '', id = ''] = code.split('.');
      const isOurs = writers.some((write) => equal(write({ parentId, id }), code));
      return isOurs ? { parentId, id } : undefined;
    },
  };
};
