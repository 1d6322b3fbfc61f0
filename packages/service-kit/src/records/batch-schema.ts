import { z } from 'zod';
import { boundedList } from '../http/bounded-list.ts';
import { ifMatchField } from '../http/etag.ts';
import { problemInBody } from '../http/openapi-responses.ts';
import type { AnyRecordSpec, Shared } from './shared.ts';

const maxOperations = 100;

/** Additional members of the problem `batch_refused`, for the document. */
export const batchRefusedMembers = {
  operation: z.int().min(0).meta({ description: 'Index of the refused operation, from 0' }),
  problem: problemInBody,
};

/** The schemas of a batch and of its results, and an example. */
export const batchSchemas = (
  { name, params, schema }: AnyRecordSpec,
  { noun, field }: Shared,
  { create, change, idName }: Required<Pick<AnyRecordSpec, 'create' | 'change'>> & { idName: string },
) => {
  const id = params.shape[idName] as z.ZodType;
  const ifMatch = ifMatchField()
    .optional()
    .meta({ description: `The ETag of the ${name}, or several, as in the header If-Match`, example: '"1"' });
  const operation = z.discriminatedUnion('op', [
    z.strictObject({ op: z.literal('create'), [field]: create.input }),
    z.strictObject({ op: z.literal('patch'), id, ifMatch, [field]: change.patch }),
    z.strictObject({ op: z.literal('delete'), id, ifMatch }),
  ]);
  const body = z.strictObject({
    operations: boundedList(operation, 1, maxOperations).meta({
      description: 'Operations in the order in which they run',
    }),
    atomic: z.boolean().default(false).meta({ description: 'Do all operations or none' }),
  });
  const result = z.union([
    z.object({ status: z.literal([200, 201]), [field]: schema }),
    z.object({ status: z.literal(204) }),
    z.object({ status: z.int().min(400).max(499), problem: problemInBody }),
  ]);
  return {
    body: body.meta({ id: `${noun}Batch` }),
    results: z.object({ results: z.array(result) }).meta({ id: `${noun}BatchResults` }),
    example: {
      operations: [
        { op: 'create', [field]: create.example },
        { op: 'patch', id: id.meta()?.example, [field]: change.example },
      ],
    },
  };
};
