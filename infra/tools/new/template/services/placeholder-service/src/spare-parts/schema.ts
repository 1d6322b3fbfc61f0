import { pageLimitBody, pageLimitQuery } from '@platform/pagination/list';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';

export const SparePartPath = z.strictObject({
  sparePartId: z
    .guid('must be a UUID')
    .toLowerCase()
    .meta({ description: 'Identifier of the spare part', example: '0198c5a0-7e57-7000-8000-000000000001' }),
});

export const SparePartQuery = z.strictObject(pageLimitQuery);

export const SparePartInput = z.strictObject({ name: text(1, 200) }).meta({ id: 'SparePartInput' });

export const SparePartPatch = SparePartInput.partial().meta({ id: 'SparePartPatch' });

export const SparePart = z
  .object({ sparePartId: z.guid(), name: z.string(), createdAt: instant() })
  .meta({ id: 'SparePart' });

export const SparePartList = pageLimitBody('spareParts', SparePart).meta({ id: 'SparePartList' });
