import { z } from 'zod';

/** A UUID in a body, in lower case as PostgreSQL returns it. */
export const uuid = (description: string) => z.guid('must be a UUID').toLowerCase().meta({ description });

/** A number with a name; the first name is that of 0. */
export const code = (...names: readonly string[]) =>
  z
    .int()
    .min(0)
    .max(names.length - 1)
    .meta({ description: names.map((name, value) => `${value} ${name}`).join(', ') });

/** An int32 that is not negative. */
export const count = (description: string) => z.int().min(0).max(2_147_483_647).meta({ description });

/** Makes all fields optional. */
export const patchOf = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape).partial();
