import { z } from 'zod';

/** One line of the response. */
export const ImportResult = z
  .union([
    z.object({
      line: z.int().min(1).meta({ description: 'Number of the line in the import, from 1' }),
      id: z.guid().meta({ description: 'Id of the stored consignment' }),
    }),
    z.object({
      line: z.int().min(1),
      error: z.string().meta({ description: 'Error code' }),
      detail: z.string(),
      errors: z.record(z.string(), z.array(z.string())).optional().meta({ description: 'Messages by field' }),
      stopped: z
        .literal(true)
        .optional()
        .meta({ description: 'The import ended early; this line and all lines after it are not confirmed' }),
    }),
  ])
  .meta({ id: 'ImportResult' });

const importId = z
  .string()
  .regex(/^[\w.~:-]{1,128}$/, 'must be 1 to 128 letters, digits or characters of ._~:-');

const firstLine = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, 'must be a number from 1 to 999999999')
  .transform(Number);

/** The headers of an import, named as in errors. */
export const ImportHeaders = z.object({
  'Import-Id': importId.optional(),
  'Import-First-Line': firstLine.default(1),
  'Idempotency-Key': z.undefined('has no effect on an import: send Import-Id').optional(),
});

export const ImportPath = z.strictObject({
  importId: importId.meta({ description: 'The Import-Id', example: 'demo' }),
});

export const ResultsQuery = z.strictObject({
  FirstLine: firstLine.default(1).meta({
    description: 'Results of this line and those after it',
    type: 'integer',
    minimum: 1,
    maximum: 999_999_999,
    default: 1,
  }),
});
