import type { z } from 'zod';
import type { Connection } from '../adapter.ts';
import { fieldOf, shaped } from '../shape.ts';
import { toMember } from './mapping.ts';
import { cart, member } from './schema.ts';

/**
 * Reading from the Blaze partner interface. Nothing here writes, and nothing may: Blaze answers a
 * partner's change of a member with another member_updated.
 */
const read = async ({ settings, credentials, reader }: Connection, path: string): Promise<unknown> => {
  const { apiKey, authorization } = credentials;
  return reader.get(settings.baseUrl, `/api/v1/partner/store/${path}`, {
    ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
    ...(authorization === undefined ? {} : { authorization }),
  });
};

/** The cart with this public identifier. */
export const readCart = async (publicKey: string, connection: Connection): Promise<z.output<typeof cart>> => {
  const answer = await read(connection, `cart/${encodeURIComponent(publicKey)}`);
  return shaped(cart, fieldOf(answer, 'cart') ?? answer);
};

/** The member as Blaze has it now. */
export const readMember = async (id: string, connection: Connection) => {
  const answer = await read(connection, `members/${encodeURIComponent(id)}`);
  return answer === undefined ? undefined : toMember(shaped(member, answer));
};
