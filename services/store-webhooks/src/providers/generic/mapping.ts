import { z } from 'zod';
import type { ProviderSettings } from '../adapter.ts';
import { amountNames } from '../money.ts';
import { profileFields } from '../records.ts';
import {
  cart,
  item,
  member,
  order,
  toOrderRecord,
  type MemberRecord,
  type OrderRecord,
} from '../pos-payloads.ts';
import { hasNoField, isoTime, namesIn, orNull, parsePayload, valueAt } from '../payload-parsing.ts';

type Pointers = Record<string, string>;

/** Default pointers of the fields that a mapping does not name, by record. */
const defaults = {
  order: { id: '/id', status: '/status', items: '/items' },
  member: { id: '/id' },
  item: {},
};

const namesExcept = (shape: object, ...names: string[]): string[] =>
  Object.keys(shape).filter((name) => !names.includes(name));

const fieldNames = {
  order: [...namesExcept(order.shape, 'modified', 'cart'), ...namesExcept(cart.shape), 'currency', 'version'],
  item: namesExcept(item.shape),
  member: [...namesExcept(member.in.shape, 'modified'), 'version'],
};

/** The fields that a mapping can name, by record, each with its default pointer. */
export const mappedFields = (Object.keys(defaults) as (keyof typeof defaults)[]).map((record) => ({
  record,
  fields: fieldNames[record].map((name) => ({ name, pointer: (defaults[record] as Pointers)[name] })),
}));

/** Field → JSON pointer. A mapping may also name unknown fields, which are ignored. */
const pointersOf = ({ mapping }: ProviderSettings, record: keyof typeof defaults): Pointers => {
  const pointers = Object.entries<string>({ ...defaults[record], ...mapping?.[record] });
  return Object.fromEntries(pointers.filter(([name]) => fieldNames[record].includes(name)));
};

/** The value at a pointer; undefined if the path does not exist. */
const valueAtPointer = (body: unknown, pointer: string | undefined): unknown =>
  pointer === undefined ? undefined : valueAt(body, ...namesIn(pointer));

/** Reads the mapped fields. Parses the pointers once, because an order has many items. */
const createPicker = (pointers: Pointers) => {
  const paths = Object.entries(pointers).map(([name, pointer]) => [name, namesIn(pointer)] as const);
  return (body: unknown): Record<string, unknown> =>
    Object.fromEntries(paths.map(([name, path]) => [name, valueAt(body, ...path)]));
};

export const idAt = (body: unknown, settings: ProviderSettings, record: 'order' | 'member'): unknown =>
  valueAtPointer(body, pointersOf(settings, record)['id']);

/** Whether a body is an object without any mapped field. */
export const isTest = (body: unknown, settings: ProviderSettings, entity: string): boolean => {
  const pointers = pointersOf(settings, entity === 'order' ? 'order' : 'member');
  return hasNoField(body, Object.values(pointers), valueAtPointer);
};

/** Personal fields, and `items`, because the fields of its elements are masked by themselves. */
const maskedFields = new Set<string>(['memo', 'promoCode', 'productName', 'items', ...profileFields]);

/** The mapped fields that may be shown. */
export const unmaskedFields = (settings: ProviderSettings): string[] => {
  const { items = '/items' } = pointersOf(settings, 'order');
  const unmaskedPointers = (record: keyof typeof defaults, prefix = '') =>
    Object.entries(pointersOf(settings, record))
      .filter(([name]) => !maskedFields.has(name))
      .map(([, pointer]) => prefix + pointer);
  return [
    ...unmaskedPointers('order'),
    ...unmaskedPointers('member'),
    ...unmaskedPointers('item', `${items}/*`),
  ];
};

/** The number in a text such as `12.50`; other values are not changed. */
const decimal = (value: unknown): unknown =>
  typeof value === 'string' && value.trim() !== '' ? Number(value) : value;

const decimals = (record: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, decimal(record[name])]));

/** A time or a counter that grows with each change. */
const version = orNull(z.union([z.int(), isoTime()], { error: 'must be an integer or an ISO 8601 time' }));
const sentCurrency = orNull(z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters, such as EUR'));

/** Maps the payload to the format of the contract first, so that the same schema validates both. */
export const toOrder = (body: unknown, settings: ProviderSettings, storeCurrency: string): OrderRecord => {
  const { items, ...fields } = createPicker(pointersOf(settings, 'order'))(body);
  const lines = Array.isArray(items) ? items.slice(0, 2000) : [];
  const pickItem = createPicker(pointersOf(settings, 'item'));
  const toLine = (payloadItem: unknown) => {
    const item = pickItem(payloadItem);
    return { ...item, ...decimals(item, ['quantity', 'price', 'totalPrice']) };
  };
  const cart = { ...decimals(fields, amountNames), promoCode: fields['promoCode'], items: lines.map(toLine) };
  const payload = { ...fields, modified: parsePayload(version, fields['version']), cart };
  const currency = parsePayload(sentCurrency, fields['currency']) ?? storeCurrency;
  return toOrderRecord(parsePayload(order, payload), currency);
};

export const toMember = (body: unknown, settings: ProviderSettings): MemberRecord => {
  const fields = createPicker(pointersOf(settings, 'member'))(body);
  return parsePayload(member, { ...fields, modified: parsePayload(version, fields['version']) });
};
