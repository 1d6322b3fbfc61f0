import { compile, get } from 'jsonpointer';
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
import { hasNoneOf, isoTime, orNull, parsePayload } from '../payload-parsing.ts';

type Pointers = Record<string, string>;

/** The pointers of fields that are not mapped, by record. */
const defaults = {
  order: { id: '/id', status: '/status', items: '/items' },
  member: { id: '/id' },
  item: {},
};

const without = (shape: object, ...names: string[]): string[] =>
  Object.keys(shape).filter((name) => !names.includes(name));

const fieldNames = {
  order: [...without(order.shape, 'modified', 'cart'), ...without(cart.shape), 'currency', 'version'],
  item: without(item.shape),
  member: [...without(member.in.shape, 'modified'), 'version'],
};

/** The fields that a mapping can name, by record, each with the pointer of a mapping that does not name it. */
export const mappedFields = (Object.keys(defaults) as (keyof typeof defaults)[]).map((record) => ({
  record,
  fields: fieldNames[record].map((name) => ({ name, pointer: (defaults[record] as Pointers)[name] })),
}));

/** Field → JSON pointer; `items` of an order is separate, because its elements have their own pointers. */
const pointersOf = ({ mapping }: ProviderSettings, record: keyof typeof defaults) => {
  const { items = '/items', ...pointers }: Pointers = { ...defaults[record], ...mapping?.[record] };
  return { items, pointers };
};

/** The value at a pointer; undefined if the path does not exist. */
const at = (body: unknown, pointer: string | undefined): unknown =>
  pointer === undefined || typeof body !== 'object' || body === null
    ? undefined
    : (get(body, pointer) as unknown);

/** Reads the mapped fields. Parses the pointers once, because an order has many items. */
const createPicker = (pointers: Pointers) => {
  const compiled = Object.entries(pointers).map(([name, pointer]) => [name, compile(pointer)] as const);
  return (body: unknown): Record<string, unknown> =>
    typeof body !== 'object' || body === null
      ? {}
      : Object.fromEntries(compiled.map(([name, pointer]) => [name, pointer.get(body) as unknown]));
};

export const idAt = (body: unknown, settings: ProviderSettings, record: 'order' | 'member'): unknown =>
  at(body, pointersOf(settings, record).pointers['id']);

/** Whether a body is an object without anything that is mapped. */
export const isTest = (body: unknown, settings: ProviderSettings, entity: string): boolean => {
  const { items, pointers } = pointersOf(settings, entity === 'order' ? 'order' : 'member');
  return hasNoneOf(body, [...Object.values(pointers), ...(entity === 'order' ? [items] : [])], at);
};

const personal = new Set<string>(['memo', 'promoCode', 'productName', ...profileFields]);

/** The mapped fields that are not personal. */
export const unmaskedFields = (settings: ProviderSettings): string[] => {
  const { items } = pointersOf(settings, 'order');
  const shown = (record: keyof typeof defaults, prefix = '') =>
    Object.entries(pointersOf(settings, record).pointers)
      .filter(([name]) => !personal.has(name))
      .map(([, pointer]) => prefix + pointer);
  return [...shown('order'), ...shown('member'), ...shown('item', `${items}/*`)];
};

/** The number in a text such as `12.50`; any other value unchanged. */
const decimal = (value: unknown): unknown =>
  typeof value === 'string' && value.trim() !== '' ? Number(value) : value;

const decimals = (record: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, decimal(record[name])]));

/** A time or a counter that grows with each change. */
const version = orNull(z.union([z.int(), isoTime()], { error: 'must be an integer or an ISO 8601 time' }));
const sentCurrency = orNull(z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters, such as EUR'));

/** Maps the payload to the contract's shape first, so that the same schema validates both. */
export const toOrder = (body: unknown, settings: ProviderSettings, ofStore: string): OrderRecord => {
  const { items, pointers } = pointersOf(settings, 'order');
  const fields = createPicker(pointers)(body);
  const itemList = at(body, items);
  const lines = Array.isArray(itemList) ? itemList.slice(0, 2000) : [];
  const pickItem = createPicker(pointersOf(settings, 'item').pointers);
  const line = (payloadItem: unknown) => {
    const item = pickItem(payloadItem);
    return { ...item, ...decimals(item, ['quantity', 'price', 'totalPrice']) };
  };
  const cart = { ...decimals(fields, amountNames), promoCode: fields['promoCode'], items: lines.map(line) };
  const payload = { ...fields, modified: parsePayload(version, fields['version']), cart };
  const currency = parsePayload(sentCurrency, fields['currency']) ?? ofStore;
  return toOrderRecord(parsePayload(order, payload), currency);
};

export const toMember = (body: unknown, settings: ProviderSettings): MemberRecord => {
  const fields = createPicker(pointersOf(settings, 'member').pointers)(body);
  return parsePayload(member, { ...fields, modified: parsePayload(version, fields['version']) });
};
