export const maxQuestions = 10_000;

/** What is wrong with one item of a list. */
export interface Fault {
  index: number;
  message: string;
}

interface Placeable {
  orderNumber?: number | undefined;
}

/** The items whose value occurs earlier in the list; undefined does not count as a value. */
export const repeated = (values: readonly (string | number | undefined)[]): Fault[] => {
  const seen = new Set<string | number>();
  return values.flatMap((value, index) => {
    if (value === undefined) return [];
    if (seen.has(value)) return [{ index, message: 'is given twice' }];
    seen.add(value);
    return [];
  });
};

/**
 * Why a list can't be put in order: where any item has an order number all must have one, and these
 * are 0, 1, 2 and so on, each once, in whatever order the items are listed.
 */
export const misplaced = (items: readonly Placeable[]): Fault[] => {
  const places = items.map(({ orderNumber }) => orderNumber);
  if (places.every((place) => place === undefined)) return [];
  const last = items.length - 1;
  const outside = places.flatMap((place, index) => {
    if (place === undefined) return [{ index, message: 'is missing here, though other items have one' }];
    return place > last ? [{ index, message: `must be from 0 to ${last}: the numbers have no gaps` }] : [];
  });
  return [...outside, ...repeated(places)];
};

/** The items in the order of their numbers, or as listed where they have none; numbered from 0. */
export const inOrder = <Item extends Placeable>(items: readonly Item[]): (Item & { orderNumber: number })[] =>
  items
    .toSorted((a, b) => (a.orderNumber ?? 0) - (b.orderNumber ?? 0))
    .map((item, orderNumber) => ({ ...item, orderNumber }));
