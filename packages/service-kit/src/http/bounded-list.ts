import { z } from 'zod';
import { maxErrors } from './field-errors.ts';

interface BoundedListDef<Item extends z.core.$ZodType> extends z.core.$ZodArrayDef<Item> {
  maxItems: number;
}

/** A zod array that stops validating early. Otherwise it behaves as z.ZodArray, also for the OpenAPI document. */
const BoundedList = z.core.$constructor<z.ZodArray, BoundedListDef<z.ZodType>>('BoundedList', (list, def) => {
  z.ZodArray.init(list, def);
  const { element, maxItems } = def;
  const parseAsArray = list._zod.parse;
  list._zod.parse = (payload, context) => {
    const items: unknown = payload.value;
    if (!Array.isArray(items)) return parseAsArray(payload, context);
    if (items.length > maxItems) {
      const message = `must have at most ${maxItems} items`;
      // `continue: false` skips refinements, because the items were not validated.
      payload.issues.push({ code: 'custom', message, input: items, inst: list, continue: false });
      return payload;
    }
    const parsed: unknown[] = [];
    payload.value = parsed;
    for (const [index, item] of items.entries()) {
      const result = element._zod.run({ value: item, issues: [] }, context);
      if (result instanceof Promise) throw new z.core.$ZodAsyncError();
      parsed.push(result.value);
      payload.issues.push(...z.core.util.prefixIssues(index, result.issues));
      if (payload.issues.length >= maxErrors) break;
    }
    return payload;
  };
});

/**
 * An array for input. It refuses a list that is too long without validating its items, and stops after the first hundred
 * errors. zod's own array validates every item and collects every error, even if there are millions.
 */
export const boundedList = <Item extends z.ZodType>(
  item: Item,
  min: number,
  max: number,
): z.ZodArray<Item> => {
  // The constructor does not know the type of the items.
  const list = new BoundedList({
    type: 'array',
    element: item,
    maxItems: max,
  }) as unknown as z.ZodArray<Item>;
  return (min === 0 ? list : list.min(min)).max(max);
};

/** A `boundedList` whose items are unique. `message` is the error for a repeated item. */
export const uniqueList = <Item extends z.ZodType>(
  item: Item,
  min: number,
  max: number,
  message: string,
): z.ZodArray<Item> =>
  boundedList(item, min, max)
    .refine((items) => new Set(items).size === items.length, message)
    .meta({ uniqueItems: true });

/** Whether a schema is an array that was not created by `boundedList`. */
export const isUnboundedArray = (schema: z.core.$ZodType): boolean =>
  schema instanceof z.ZodArray && !(schema instanceof BoundedList);
