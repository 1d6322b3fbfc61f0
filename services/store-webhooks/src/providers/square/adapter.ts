import { hmacMatches } from '@platform/auth/provider-signatures';
import type { PosAdapter } from '../adapter.ts';
import { fieldOf, idIn, pathOf, shaped } from '../shape.ts';
import { readMember, readOrder } from './client.ts';
import { toMember } from './mapping.ts';
import { customerEvent, orderUpdated } from './schema.ts';

export const square: PosAdapter = {
  kind: 'square',
  headers: ['x-square-hmacsha256-signature'],
  subject: (event, body) => {
    const object = pathOf(body, 'data', 'object');
    const id =
      event === 'order_updated'
        ? idIn(pathOf(object, 'order_updated', 'order_id'))
        : idIn(pathOf(object, 'customer', 'id'));
    return { id, eventId: idIn(fieldOf(body, 'event_id')) };
  },
  order: async (body, connection) => {
    const { order_updated: changed } = shaped(orderUpdated, body).data.object;
    const order = await readOrder(changed.order_id, connection);
    return { ...order, id: changed.order_id };
  },
  member: async (body) => toMember(shaped(customerEvent, body).data.object.customer),
  readMember,
  signed: ({ headers, body, url }, { credentials: { webhookSecret } }) =>
    webhookSecret === undefined
      ? undefined
      : hmacMatches(
          { algorithm: 'sha256', encoding: 'base64' },
          webhookSecret,
          [url, body],
          headers['x-square-hmacsha256-signature'],
        ),
};
