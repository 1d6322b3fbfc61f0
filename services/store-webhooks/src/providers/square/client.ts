import type { Connection } from '../adapter.ts';
import { ProviderAway } from '../exchange.ts';
import { shaped } from '../shape.ts';
import { Unprocessable } from '../../worker/unprocessable.ts';
import { toMember, toOrder } from './mapping.ts';
import { customerAnswer, orderAnswer } from './schema.ts';

const read = ({ settings, credentials, reader }: Connection, path: string): Promise<unknown> => {
  const { accessToken } = credentials;
  if (accessToken === undefined) throw new Unprocessable('The store has no access token for Square.');
  return reader.get(settings.baseUrl ?? 'https://connect.squareup.com', `/v2/${path}`, {
    authorization: `Bearer ${accessToken}`,
  });
};

export const readOrder = async (id: string, connection: Connection) => {
  const answer = await read(connection, `orders/${encodeURIComponent(id)}`);
  if (answer === undefined) throw new ProviderAway('does not know the order', false);
  return toOrder(shaped(orderAnswer, answer));
};

export const readMember = async (id: string, connection: Connection) => {
  const answer = await read(connection, `customers/${encodeURIComponent(id)}`);
  return answer === undefined ? undefined : toMember(shaped(customerAnswer, answer).customer);
};
