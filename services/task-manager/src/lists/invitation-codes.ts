import { equal } from '@platform/auth/equal';
import { macFor } from '../sessions/refresh-token.ts';
import type { SigningKeys } from '../sessions/signing-keys.ts';

export interface Invitation {
  listId: string;
  id: string;
}

/** What `createInvitationCodes` makes. */
export type InvitationCodes = ReturnType<typeof createInvitationCodes>;

/**
 * The secret of an invitation: the ids of list and invitation, and an HMAC-SHA256 over both. So it is stored nowhere, and
 * can be made again while the invitation is open (docs/adr/0141).
 */
export const createInvitationCodes = ([current, ...others]: SigningKeys) => {
  const writerFor = (key: typeof current) => {
    const mac = macFor(key, 'invitations');
    return ({ listId, id }: Invitation): string => {
      const ids = `${listId}.${id}`;
      return `${ids}.${mac(Buffer.from(ids)).toString('base64url')}`;
    };
  };
  const codeOf = writerFor(current);
  const writers = [codeOf, ...others.map(writerFor)];
  return {
    codeOf,
    /** Undefined for a code that this service has not made. */
    read: (code: string): Invitation | undefined => {
      const [listId = '', id = ''] = code.split('.');
      const isOurs = writers.some((write) => equal(write({ listId, id }), code));
      return isOurs ? { listId, id } : undefined;
    },
  };
};
