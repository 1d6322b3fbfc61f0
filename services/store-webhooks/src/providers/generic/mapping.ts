import { get } from 'jsonpointer';
import type { ProviderSettings } from '../adapter.ts';
import { toMinor } from '../money.ts';
import { amountNames, type MemberRecord, type OrderRecord } from '../records.ts';
import { shaped } from '../shape.ts';
import { item, member, order } from './schema.ts';

type Pointers = Record<string, string>;

const defaults = { order: { id: '/id', status: '/status' }, member: { id: '/id' }, item: {} };

/** Field → JSON pointer; `items` of an order is apart, because its elements have their own pointers. */
const pointersOf = ({ mapping }: ProviderSettings, record: keyof typeof defaults) => {
  const { items = '/items', ...pointers }: Pointers = { ...defaults[record], ...mapping?.[record] };
  return { items, pointers };
};

/** What a pointer finds; undefined when the path does not exist. */
const at = (body: unknown, pointer: string | undefined): unknown =>
  pointer === undefined || typeof body !== 'object' || body === null
    ? undefined
    : (get(body, pointer) as unknown);

const picked = (body: unknown, pointers: Pointers): Record<string, unknown> =>
  Object.fromEntries(Object.entries(pointers).map(([name, pointer]) => [name, at(body, pointer)]));

export const idAt = (body: unknown, settings: ProviderSettings, record: 'order' | 'member'): unknown =>
  at(body, pointersOf(settings, record).pointers['id']);

const personal = new Set(['memo', 'promoCode', 'productName', 'email', 'firstName', 'lastName', 'phone']);

/** The mapped fields that are not personal. */
export const harmless = (settings: ProviderSettings): string[] => {
  const { items } = pointersOf(settings, 'order');
  const shown = (record: keyof typeof defaults, prefix = '') =>
    Object.entries(pointersOf(settings, record).pointers)
      .filter(([name]) => !personal.has(name))
      .map(([, pointer]) => prefix + pointer);
  return [...shown('order'), ...shown('member'), ...shown('item', `${items}/*`)];
};

export const toOrder = (body: unknown, settings: ProviderSettings): OrderRecord => {
  const { items, pointers } = pointersOf(settings, 'order');
  const { id, status, consumerId, version, currency: named, ...rest } = shaped(order, picked(body, pointers));
  const currency = named ?? 'USD';
  const minor = (amount: number | null) => (amount === null ? null : toMinor(amount, currency));
  const found = at(body, items);
  const lines = Array.isArray(found) ? found.slice(0, 2000) : [];
  return {
    id,
    status,
    consumerId,
    version,
    details: {
      orderNo: rest.orderNo,
      memo: rest.memo,
      rewardName: null,
      publicKey: null,
      memberGroup: null,
      trackingStatus: rest.trackingStatus,
      currency,
      promoCode: rest.promoCode,
      amounts: Object.fromEntries(amountNames.map((name) => [name, minor(rest[name])])),
      items: lines
        .map((line) => shaped(item, picked(line, pointersOf(settings, 'item').pointers)))
        .map(({ price, totalPrice, ...one }) => ({
          ...one,
          price: minor(price),
          totalPrice: minor(totalPrice),
        })),
    },
  };
};

export const toMember = (body: unknown, settings: ProviderSettings): MemberRecord =>
  shaped(member, picked(body, pointersOf(settings, 'member').pointers));
