import { z } from 'zod';
import type { Connection, PosAdapter } from '../adapter.ts';
import { headerCredential } from '../credentials.ts';
import { amountNames } from '../money.ts';
import { cart, member, order, toOrderRecord, type OrderRecord } from '../pos-payloads.ts';
import { fieldOf, hasNoField, identifierIn, parsePayload, pointersTo } from '../payload-parsing.ts';

/** Reads from the Blaze partner API. */
const read = ({ settings, credentials, reader }: Connection, ...path: string[]): Promise<unknown> => {
  const { apiKey, authorization } = credentials;
  return reader.get(settings, ['api', 'v1', 'partner', 'store', ...path], {
    ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
    ...(authorization === undefined ? {} : { authorization }),
  });
};

const readCart = async (publicKey: string, connection: Connection) => {
  const answer = await read(connection, 'cart', publicKey);
  return parsePayload(cart, fieldOf(answer, 'cart') ?? answer);
};

/** An order is replaced together with its items, so a missing cart is looked up. */
const withCart = async (payload: z.output<typeof order>, connection: Connection): Promise<OrderRecord> => {
  const { publicKey } = payload;
  if (payload.cart === null && publicKey !== null && connection.settings.baseUrl !== undefined)
    return toOrderRecord({ ...payload, cart: await readCart(publicKey, connection) }, connection.currency);
  return toOrderRecord(payload, connection.currency);
};

/** A POS that sends the payloads of docs/contracts/store-webhooks.md. */
export const blaze: PosAdapter = {
  kind: 'blaze',
  credentials: z.strictObject({ apiKey: headerCredential(), authorization: headerCredential() }).partial(),
  payloads: { order, member },
  unmaskedFields: [
    ...pointersTo('', 'id orderNo status consumerId memberGroup trackingStatus modified type'),
    ...pointersTo('/cart', amountNames.join(' ')),
    ...pointersTo('/cart/items/*', 'productId quantity price totalPrice'),
  ],
  subject: (body) => ({ id: identifierIn(fieldOf(body, 'id')) }),
  isTest: (body, _settings, entity) =>
    hasNoField(body, Object.keys((entity === 'order' ? order : member.in).shape)),
  order: (body, connection) => withCart(parsePayload(order, body), connection),
  member: (body) => parsePayload(member, body),
  readMember: async (id, connection) => {
    const answer = await read(connection, 'members', id);
    return answer === undefined ? undefined : parsePayload(member, answer);
  },
};
