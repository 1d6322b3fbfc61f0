export const maxQuestions = 10_000;

/** A question whose fields other than id and order number are JSON text, without braces. */
export interface SerialisedQuestion {
  questionId: string;
  orderNumber: number;
  content: string | Buffer;
}

/** An invalid item of a list. */
export interface Fault {
  index: number;
  message: string;
}

interface Ordered {
  orderNumber?: number | undefined;
}

/** The items whose value occurs earlier in the list; undefined does not count as a value. */
export const repeated = (values: readonly (string | number | undefined)[]): Fault[] => {
  const seen = new Set<string | number>();
  return values.flatMap((value, index) => {
    if (value === undefined) return [];
    if (seen.has(value)) return [{ index, message: 'occurs twice' }];
    seen.add(value);
    return [];
  });
};

/**
 * The items whose order number is invalid: either no item has one, or all have one and the numbers are
 * 0, 1, 2 and so on, each once, in any order.
 */
export const misplaced = (items: readonly Ordered[]): Fault[] => {
  const numbers = items.map(({ orderNumber }) => orderNumber);
  if (numbers.every((number) => number === undefined)) return [];
  const last = items.length - 1;
  const invalid = numbers.flatMap((number, index) => {
    if (number === undefined) return [{ index, message: 'is missing here, though other items have one' }];
    return number > last ? [{ index, message: `must be from 0 to ${last}: the numbers have no gaps` }] : [];
  });
  return [...invalid, ...repeated(numbers)];
};

/** Sorts the items by order number, or leaves them as listed without one, and numbers them from 0. */
export const inOrder = <Item extends Ordered>(items: readonly Item[]): (Item & { orderNumber: number })[] =>
  items
    .toSorted((a, b) => (a.orderNumber ?? 0) - (b.orderNumber ?? 0))
    .map((item, orderNumber) => ({ ...item, orderNumber }));
