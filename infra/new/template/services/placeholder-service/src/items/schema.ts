import { pageLimitBody, pageLimitQuery } from '@platform/pagination/page-limit';
import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';

export const ItemPath = z.strictObject({
  itemId: z
    .guid('must be a UUID')
    .toLowerCase()
    .meta({ description: 'Identifier of the item', example: '0198c5a0-7e57-7000-8000-000000000001' }),
});

export const ItemQuery = z.strictObject(pageLimitQuery);

export const ItemInput = z.strictObject({ name: text(1, 200) }).meta({ id: 'ItemInput' });

export const Item = z
  .object({ itemId: z.guid(), name: z.string(), createdAt: instant() })
  .meta({ id: 'Item' });

export const ItemList = pageLimitBody('items', Item).meta({ id: 'ItemList' });
