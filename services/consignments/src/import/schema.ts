import { z } from 'zod';
import { ConsignmentInput } from '../consignments/schema.ts';

/** One line of the body; the body has any number of them. */
export const ImportLine = ConsignmentInput;

/** One line of the answer. */
export const ImportResult = z
  .union([
    z.object({
      line: z.int().min(1).meta({ description: 'Number of the line in the body, from 1' }),
      id: z.guid().meta({ description: 'The new consignment, stored for good' }),
    }),
    z.object({
      line: z.int().min(1),
      error: z.string().meta({ description: 'Stable name of what is wrong' }),
      detail: z.string(),
      errors: z.record(z.string(), z.array(z.string())).optional().meta({ description: 'Messages by field' }),
      stopped: z
        .literal(true)
        .optional()
        .meta({ description: 'The import has ended here; this line and those after it are not confirmed' }),
    }),
  ])
  .meta({ id: 'ImportResult' });
