import type { PosAdapter } from '../adapter.ts';
import { idIn } from '../shape.ts';
import { idAt, toMember, toOrder } from './mapping.ts';

/** Any POS that sends JSON: the store's settings say where in it the fields stand. It can't be asked. */
export const generic: PosAdapter = {
  kind: 'generic',
  subject: (event, body, settings) => ({
    id: idIn(idAt(body, settings, event === 'order_updated' ? 'order' : 'member')),
  }),
  order: async (body, { settings }) => toOrder(body, settings),
  member: async (body, { settings }) => toMember(body, settings),
  readMember: async () => undefined,
};
