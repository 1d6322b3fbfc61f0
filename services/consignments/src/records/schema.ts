import { z } from 'zod';

/** A UUID in a body, in lower case as PostgreSQL returns it. */
export const uuid = (description: string) => z.guid('must be a UUID').toLowerCase().meta({ description });

/** A numeric code; `names` are the meanings of 0, 1, …. */
export const code = (...names: readonly string[]) =>
  z
    .int()
    .min(0)
    .max(names.length - 1)
    .meta({ description: names.map((name, value) => `${value} ${name}`).join(', ') });

/** An int32 that is not negative. */
export const count = (description: string) => z.int().min(0).max(2_147_483_647).meta({ description });

export const countryCode = z
  .string()
  .regex(/^[A-Z]{2}$/, 'must be two capital letters (ISO 3166-1 alpha-2), such as NL')
  .meta({ description: 'ISO 3166-1 alpha-2' });

const hasStorableYear = (text: string): boolean => {
  const year = new Date(text).getUTCFullYear();
  return year >= 1 && year <= 9999;
};

/** A point in time in a body, with any offset. It is converted to ISO 8601 in UTC with milliseconds. */
export const point = (description: string) =>
  z.iso
    .datetime({ offset: true, abort: true, error: 'must be an ISO 8601 time with Z or an offset' })
    .refine(hasStorableYear, { error: 'must lie in the years 0001 to 9999, in UTC', abort: true })
    .overwrite((text) => new Date(text).toISOString())
    .meta({ description });

type WithoutDefaults<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends z.ZodDefault<infer Field> ? Field : Fields[Name];
};

/** The fields as in a patch or a response, where no default is filled in. */
export const withoutDefaults = <Fields extends z.ZodRawShape>(fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      field instanceof z.ZodDefault ? field.unwrap() : field,
    ]),
  ) as WithoutDefaults<Fields>;

/**
 * The schemas of a record, of its list item, of the body that creates it and of a patch, named by `id`. A new record may omit
 * fields with a default. Callers do not send the `computed` fields, and list items do not have the `details`.
 */
export const recordSchemas = <
  Fields extends z.ZodRawShape,
  Computed extends z.ZodRawShape,
  Details extends z.ZodRawShape,
>(
  id: string,
  fields: Fields,
  computed: Computed,
  details: Details,
) => {
  const [plain, more] = [withoutDefaults(fields), withoutDefaults(details)];
  const schema = z.object({ id: z.guid(), ...plain, ...more, ...computed }).meta({ id });
  return {
    schema,
    listed:
      Object.keys(details).length === 0
        ? schema
        : z.object({ id: z.guid(), ...plain, ...computed }).meta({ id: `Listed${id}` }),
    input: z.strictObject({ ...fields, ...details }).meta({ id: `${id}Input` }),
    patch: z
      .strictObject({ ...plain, ...more })
      .partial()
      .meta({ id: `${id}Patch` }),
  };
};
