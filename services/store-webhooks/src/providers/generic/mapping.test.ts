import { describe, expect, test, vi } from 'vitest';
import { isTest, mappedFields, toMember, toOrder, unmaskedFields } from './mapping.ts';

const records = mappedFields.map(({ record }) => record);

/** A mapping of each record's fields `names` to fields of the same names. */
const mapAll = (names: readonly string[]) =>
  Object.fromEntries(
    records.map((record) => [record, Object.fromEntries(names.map((name) => [name, `/${name}`]))]),
  );

const known = { kind: 'generic', mapping: mapAll(['id', 'status', 'email', 'quantity', 'price']) };
const unknownNames = Array.from({ length: 90 }, (_, at) => `unknown${at}`);
const extended = {
  ...known,
  mapping: mapAll(['id', 'status', 'email', 'quantity', 'price', ...unknownNames]),
};

/** Runs `read` with a payload and returns its result with the names of all fields that it read, in order. */
const recordReads = <T>(read: (payload: object) => T): { result: T; reads: string[] } => {
  const reads: string[] = [];
  const observed = <Value extends object>(value: Value): Value =>
    new Proxy(value, {
      get: (target, name, receiver) => {
        reads.push(String(name));
        return Reflect.get(target, name, receiver) as unknown;
      },
    });
  const items = Array.from({ length: 20 }, () => observed({ quantity: '2', price: 1.5, unknown0: 'x' }));
  const result = read(observed({ id: 'a', status: 'OPEN', email: 'ann@example.test', unknown0: 'x', items }));
  return { result, reads };
};

describe('fields of a mapping that the service does not know', () => {
  test.each([
    ['an order', (settings: typeof known, payload: object) => toOrder(payload, settings, 'EUR')],
    ['a member', (settings: typeof known, payload: object) => toMember(payload, settings)],
  ])('are not read from the payload of %s', (_payload, map) => {
    const expected = recordReads((payload) => map(known, payload));
    expect(expected.reads).toContain('id');
    expect(recordReads((payload) => map(extended, payload))).toEqual(expected);
  });

  test('do not unmask values in event views', () => {
    expect(unmaskedFields(extended)).toEqual(unmaskedFields(known));
  });

  test.each(['order', 'member'])('do not distinguish an event about %ss from a test event', (entity) => {
    expect(isTest({ unknown0: 'x' }, extended, entity)).toBe(true);
  });
});

describe('pointers', () => {
  const path = '/a~1b/~01';
  const settings = { kind: 'generic', mapping: { item: { quantity: path, productId: `${path}/0` } } };

  test('may contain escaped characters', () => {
    const items = [{ 'a/b': { '~1': 3 } }];
    const { details } = toOrder({ id: 'a', status: 'OPEN', items }, settings, 'EUR');
    expect(details.items).toMatchObject([{ quantity: 3, productId: null }]);
  });

  test('are parsed once, however many items an order has', () => {
    const countReplacements = (count: number): number => {
      const items = Array.from({ length: count }, () => ({ 'a/b': { '~1': 3 } }));
      const spies = (['replace', 'replaceAll'] as const).map((method) => vi.spyOn(String.prototype, method));
      toOrder({ id: 'a', status: 'OPEN', items }, settings, 'EUR');
      const calls = spies.reduce((total, spy) => total + spy.mock.calls.length, 0);
      for (const spy of spies) spy.mockRestore();
      return calls;
    };
    expect(countReplacements(2000)).toBe(countReplacements(1));
  });

  test.each(['/constructor/name', '/__proto__', '/toString'])('read no inherited field: %s', (inherited) => {
    expect(isTest({}, { kind: 'generic', mapping: { order: { orderNo: inherited } } }, 'order')).toBe(true);
  });
});
