import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';

const int32 = 2_147_483_647;
const change = (description: string) => z.int().min(-int32).max(int32).meta({ description });

const fields = {
  quantity: change('Units that came in, or went out if negative'),
  reserved: change('Units that were reserved, or released if negative'),
  reason: text(1, 500).nullable(),
};

/** A change of the stock of an inventory item. */
export const Movement = z
  .object({
    id: z.guid(),
    ...fields,
    reference: z.string().nullable().meta({
      description: 'Of who moved it; null for a consignment, and where the stock of the item was set',
    }),
    consignmentId: z.guid().nullable().meta({ description: 'The consignment whose status moved it' }),
    createdBy: z.string().nullable().meta({
      description:
        'Subject of the access token; null, as reason and consignmentId, where a token for some clients reads of a consignment of others',
    }),
    createdAt: instant(),
  })
  .meta({ id: 'StockMovement' });

/** What tells of the consignment that moved an item. */
export type Origin = Pick<z.output<typeof Movement>, 'reason' | 'consignmentId' | 'createdBy'>;

export const MovementInput = z
  .strictObject({
    quantity: fields.quantity.default(0),
    reserved: fields.reserved.default(0),
    reference: text(1, 200).meta({
      description: 'Moves the item once, such as the number of a delivery note',
    }),
    reason: fields.reason.default(null),
  })
  .refine(({ quantity, reserved }) => quantity !== 0 || reserved !== 0, {
    path: ['quantity'],
    error: 'must not be 0 unless reserved is not',
  })
  .meta({ id: 'StockMovementInput' });

export type MovementInput = z.output<typeof MovementInput>;

/** What is left of inventory items, in 409 `not_enough_stock`. */
export const Left = z.array(
  z.object({ inventoryId: z.guid(), quantity: z.int(), reserved: z.int(), available: z.int() }),
);
