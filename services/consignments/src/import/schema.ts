import { z } from 'zod';
import { ConsignmentInput } from '../consignments/schema.ts';

/** One line of the request body. */
export const ImportLine = ConsignmentInput;

/** One line of the response. */
export const ImportResult = z
  .union([
    z.object({
      line: z.int().min(1).meta({ description: 'Number of the line in the body, from 1' }),
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
