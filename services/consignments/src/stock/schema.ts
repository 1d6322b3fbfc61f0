import { instant, text } from '@platform/service-kit/text';
import { z } from 'zod';

const int32 = 2_147_483_647;
const change = (description: string) => z.int().min(-int32).max(int32).meta({ description });

const fields = {
  quantity: change('Units that came in; negative if they went out'),
  reserved: change('Units that were reserved; negative if they were released'),
  reason: text(1, 500).nullable(),
};

/** A change of the stock of an inventory item. */
export const Movement = z
  .object({
    id: z.guid(),
    ...fields,
    reference: z.string().nullable().meta({
      description: 'Reference from the caller; null for a movement by a consignment or by setting the stock',
    }),
    consignmentId: z.guid().nullable().meta({ description: 'The consignment that moved the stock' }),
    createdBy: z.string().nullable().meta({
      description:
        'Subject of the access token. For tokens limited to clients, this, reason and consignmentId are null if the consignment belongs to another client',
    }),
    createdAt: instant(),
  })
  .meta({ id: 'StockMovement' });

/** The fields that reveal the consignment of a movement. */
export type Origin = Pick<z.output<typeof Movement>, 'reason' | 'consignmentId' | 'createdBy'>;

export const MovementInput = z
  .strictObject({
    quantity: fields.quantity.default(0),
    reserved: fields.reserved.default(0),
    reference: text(1, 200).meta({
      description: 'Unique for each movement of the item, such as the number of a delivery note',
    }),
    reason: fields.reason.default(null),
  })
  .refine(({ quantity, reserved }) => quantity !== 0 || reserved !== 0, {
    path: ['quantity'],
    error: 'must not be 0 if reserved is 0',
  })
  .meta({ id: 'StockMovementInput' });

export type MovementInput = z.output<typeof MovementInput>;

/** The remaining stock of inventory items, in 409 `not_enough_stock`. */
export const Left = z.array(
  z.object({ inventoryId: z.guid(), quantity: z.int(), reserved: z.int(), available: z.int() }),
);
