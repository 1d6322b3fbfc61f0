import type { PosAdapter } from '../adapter.ts';
import { fieldOf, idIn, shaped } from '../shape.ts';
import { readCart, readMember } from './client.ts';
import { toMember, toOrder } from './mapping.ts';
import { member, order } from './schema.ts';

export const blaze: PosAdapter = {
  kind: 'blaze',
  subject: (_event, body) => ({ id: idIn(fieldOf(body, 'id')) }),
  order: async (body, connection) => {
    const payload = shaped(order, body);
    // Without a cart, an order can't be replaced as one: its items are asked for.
    const looked = payload.cart === null && payload.publicKey !== null && connection.settings.baseUrl;
    return toOrder(payload, looked ? await readCart(payload.publicKey ?? '', connection) : undefined);
  },
  member: async (body) => toMember(shaped(member, body)),
  readMember,
};
