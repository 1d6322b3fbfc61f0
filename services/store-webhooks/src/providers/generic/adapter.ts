import type { PosAdapter } from '../adapter.ts';
import { identifierIn } from '../payload-parsing.ts';
import { idAt, isTest, toMember, toOrder, unmaskedFields } from './mapping.ts';

/** Any POS that sends JSON; the store's settings contain a JSON pointer to each field. Has no lookups. */
export const generic: PosAdapter = {
  kind: 'generic',
  payloads: undefined,
  unmaskedFields,
  subject: (body, settings, entity) => ({
    id: identifierIn(idAt(body, settings, entity === 'order' ? 'order' : 'member')),
  }),
  isTest,
  order: (body, { settings, currency }) => Promise.resolve(toOrder(body, settings, currency)),
  member: toMember,
  readMember: async () => undefined,
};
