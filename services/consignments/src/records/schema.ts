import { z } from 'zod';

/** Path of a single record. */
export const RecordPath = z.strictObject({
  id: z.guid('must be a UUID').toLowerCase().meta({ description: 'Identifier of the record' }),
});

/** A UUID in a body, in lower case as PostgreSQL gives it back. */
export const uuid = (description: string) => z.guid('must be a UUID').toLowerCase().meta({ description });

/** One of the numbers that `names` explains: the first name stands for 0. */
export const code = (...names: readonly string[]) =>
  z
    .int()
    .min(0)
    .max(names.length - 1)
    .meta({ description: names.map((name, value) => `${value} ${name}`).join(', ') });

/** A whole number that is not negative and fits int32. */
export const count = (description: string) => z.int().min(0).max(2_147_483_647).meta({ description });

/** Makes all fields optional; one at least must be there. */
export const patchOf = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .strictObject(shape)
    .partial()
    .refine((patch) => Object.keys(patch).length > 0, 'must change something');
