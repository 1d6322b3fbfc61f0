import { z } from 'zod';
import { Unprocessable } from '../../errors.ts';
import type { Connection, PosAdapter } from '../adapter.ts';
import { headerCredential, textSecret } from '../credentials.ts';
import { amountNames } from '../money.ts';
import { orderTexts } from '../records.ts';
import {
  fieldOf,
  fieldsOf,
  hasNoField,
  identifierIn,
  parsePayload,
  pointersTo,
  valueAt,
} from '../payload-parsing.ts';
import type { OrderRecord } from '../pos-payloads.ts';
import { hmacSigning } from '../signatures.ts';
import { customerAnswer, customerEvent, orderAnswer, orderUpdated } from './schema.ts';

const read = ({ settings, credentials, reader }: Connection, ...path: string[]): Promise<unknown> => {
  const { accessToken } = credentials;
  if (accessToken === undefined) throw new Unprocessable('The store has no access token for Square.');
  return reader.get(settings, ['v2', ...path], { authorization: `Bearer ${accessToken}` });
};

/** The order of an event, as Square has it now. */
const readOrder = async (
  { order_id: id, state }: z.output<typeof orderUpdated>['data']['object']['order_updated'],
  connection: Connection,
): Promise<OrderRecord> => {
  const answer = await read(connection, 'orders', id);
  if (answer === undefined) throw new Unprocessable('The provider does not know the order.');
  const { order } = parsePayload(orderAnswer, answer);
  const status = order.state ?? state;
  if (status === null) throw new Unprocessable('Neither the event nor the order names a state.');
  return {
    id,
    status,
    consumerId: order.customer_id,
    version: order.version,
    details: {
      orderNo: order.reference_id,
      ...fieldsOf(orderTexts, () => null),
      currency: order.total_money?.currency ?? connection.currency,
      promoCode: null,
      amounts: {
        ...fieldsOf(amountNames, () => null),
        total: order.total_money?.amount ?? null,
        taxTotal: order.total_tax_money?.amount ?? null,
        totalDiscount: order.total_discount_money?.amount ?? null,
        deliveryFee: order.total_service_charge_money?.amount ?? null,
      },
      items: order.line_items ?? [],
    },
  };
};

export const square: PosAdapter = {
  kind: 'square',
  baseUrl: 'https://connect.squareup.com',
  credentials: z.strictObject({ accessToken: headerCredential(), webhookSecret: textSecret() }).partial(),
  payloads: { order: orderUpdated, member: customerEvent },
  unmaskedFields: [
    ...pointersTo('', 'merchant_id type event_id created_at data/type data/id'),
    ...pointersTo('/data/object/order_updated', 'order_id location_id state version created_at updated_at'),
    ...pointersTo('/data/object/customer', 'id version created_at updated_at'),
  ],
  subject: (body, _settings, entity) => {
    const object = valueAt(body, 'data', 'object');
    const id =
      entity === 'order' ? valueAt(object, 'order_updated', 'order_id') : valueAt(object, 'customer', 'id');
    return { id: identifierIn(id), eventId: identifierIn(fieldOf(body, 'event_id')) };
  },
  // Checks the fields that all events of Square have, so that an event at the wrong address is not taken for a test.
  isTest: (body) => hasNoField(body, Object.keys(orderUpdated.shape)),
  order: (body, connection) =>
    readOrder(parsePayload(orderUpdated, body).data.object.order_updated, connection),
  member: (body) => parsePayload(customerEvent, body).data.object.customer,
  readMember: async (id, connection) => {
    const answer = await read(connection, 'customers', id);
    return answer === undefined ? undefined : parsePayload(customerAnswer, answer).customer;
  },
  ...hmacSigning({
    header: 'x-square-hmacsha256-signature',
    algorithm: 'sha256',
    encoding: 'base64',
    content: ({ url, body }) => [url, body],
  }),
};
