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

type WithoutDefaults<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends z.ZodDefault<infer Field> ? Field : Fields[Name];
};

/**
 * The schemas of a record, of the body that creates it and of a patch, named by `id`. A new record may leave out fields
 * with a default. No caller sends the `computed` fields.
 */
export const recordSchemas = <Fields extends z.ZodRawShape, Computed extends z.ZodRawShape>(
  id: string,
  fields: Fields,
  computed: Computed,
) => {
  const plain = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      field instanceof z.ZodDefault ? field.unwrap() : field,
    ]),
  ) as WithoutDefaults<Fields>;
  return {
    schema: z.object({ id: z.guid(), ...plain, ...computed }).meta({ id }),
    input: z.strictObject(fields).meta({ id: `${id}Input` }),
    patch: z
      .strictObject(plain)
      .partial()
      .meta({ id: `${id}Patch` }),
  };
};
