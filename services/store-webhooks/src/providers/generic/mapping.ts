import { get } from 'jsonpointer';
import type { ProviderSettings } from '../adapter.ts';
import { toMinor } from '../money.ts';
import { amountNames, type MemberRecord, type OrderRecord } from '../records.ts';
import { shaped } from '../shape.ts';
import { item, member, order } from './schema.ts';

type Pointers = Record<string, string>;

/** What a pointer finds; undefined where it leads nowhere. */
const at = (body: unknown, pointer: string | undefined): unknown =>
  pointer === undefined || typeof body !== 'object' || body === null
    ? undefined
    : (get(body, pointer) as unknown);

const picked = (body: unknown, pointers: Pointers): Record<string, unknown> =>
  Object.fromEntries(Object.entries(pointers).map(([name, pointer]) => [name, at(body, pointer)]));

const pointersOf = ({ mapping }: ProviderSettings, record: string): Pointers => mapping?.[record] ?? {};

/** Where a record's id stands; `/id` unless the store says otherwise. */
export const idPointer = (settings: ProviderSettings, record: 'order' | 'member'): string =>
  pointersOf(settings, record)['id'] ?? '/id';

export const idAt = (body: unknown, settings: ProviderSettings, record: 'order' | 'member'): unknown =>
  at(body, idPointer(settings, record));

export const toOrder = (body: unknown, settings: ProviderSettings): OrderRecord => {
  const { items: itemsAt = '/items', ...pointers } = {
    id: '/id',
    status: '/status',
    ...pointersOf(settings, 'order'),
  };
  const { id, status, consumerId, version, currency: named, ...rest } = shaped(order, picked(body, pointers));
  const currency = named ?? 'USD';
  const minor = (amount: number | null) => (amount === null ? null : toMinor(amount, currency));
  const found = at(body, itemsAt);
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
        .map((line) => shaped(item, picked(line, pointersOf(settings, 'item'))))
        .map(({ price, totalPrice, ...one }) => ({
          ...one,
          price: minor(price),
          totalPrice: minor(totalPrice),
        })),
    },
  };
};

export const toMember = (body: unknown, settings: ProviderSettings): MemberRecord =>
  shaped(member, picked(body, { id: '/id', ...pointersOf(settings, 'member') }));
