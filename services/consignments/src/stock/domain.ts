import { Conflict, Problem } from '@platform/service-kit/problem';
import type { z } from 'zod';
import type { Left } from './schema.ts';

/** The stock of an inventory item; `held` is the part of `reserved` that belongs to consignments. */
export interface Stock {
  id: string;
  quantity: number;
  reserved: number;
  held: number;
}

/** A change of the stock of one item. */
export interface Change {
  inventoryId: string;
  quantity: number;
  reserved: number;
  /** Undefined for a change by hand, which leaves alone what consignments hold. */
  consignmentId?: string;
}

const leftOf = ({ id, quantity, reserved }: Stock): z.output<typeof Left>[number] => ({
  inventoryId: id,
  quantity,
  reserved,
  available: quantity - reserved,
});

const sentenceOf = ({ id, quantity, reserved, held }: Stock): string =>
  `Inventory item ${id}: quantity ${quantity}, reserved ${reserved} (${held} of it by consignments).`;

/** 409 `not_enough_stock`, which says what is left of these items. */
export const notEnoughStock = (stocks: readonly Stock[]): Problem =>
  new Problem({
    status: 409,
    code: 'not_enough_stock',
    detail: stocks.map(sentenceOf).join(' '),
    members: { left: stocks.map(leftOf) },
  });

/** Whether what consignments hold is reserved, what is reserved is there, and nothing is below zero. */
const isPossible = ({ quantity, reserved, held }: Omit<Stock, 'id'>): boolean =>
  0 <= held && held <= reserved && reserved <= quantity;

/** Values of an inventory item that a patch sets. */
export interface SetStock {
  quantity?: number | undefined;
  reserved?: number | undefined;
}

/** Throws a Problem unless the stock may be set to these values. */
export const requireSettable = (
  stock: Stock,
  { quantity = stock.quantity, reserved = stock.reserved }: SetStock,
): void => {
  if (!isPossible({ quantity, reserved, held: stock.held })) throw notEnoughStock([stock]);
};

const maxUnits = 2_147_483_647;

/** Throws a Problem unless the items can be changed so. An item that does not exist has no stock. */
export const requireStock = (stocks: readonly Stock[], changes: readonly Change[]): void => {
  const byId = new Map(stocks.map((stock) => [stock.id, stock]));
  const short = changes.flatMap(({ inventoryId: id, quantity, reserved, consignmentId }) => {
    const stock = byId.get(id) ?? { id, quantity: 0, reserved: 0, held: 0 };
    const after = {
      quantity: stock.quantity + quantity,
      reserved: stock.reserved + reserved,
      held: stock.held + (consignmentId === undefined ? 0 : reserved),
    };
    if (after.quantity > maxUnits)
      throw new Conflict('too_much_stock', `Inventory item ${id} would have more than ${maxUnits} units.`);
    return isPossible(after) ? [] : [stock];
  });
  if (short.length > 0) throw notEnoughStock(short);
};

/** Units of an item that a consignment has reserved, and those that it has taken out. */
export interface Holding {
  inventoryId: string;
  reserved: number;
  taken: number;
}

/** The changes after which a consignment that has `held` holds `wanted`; both may name an item several times. */
export const changesBetween = (held: readonly Holding[], wanted: readonly Holding[]): Change[] => {
  const changes = new Map<string, Change>();
  const add = ({ inventoryId, reserved, taken }: Holding, sign: 1 | -1) => {
    const before = changes.get(inventoryId) ?? { quantity: 0, reserved: 0 };
    changes.set(inventoryId, {
      inventoryId,
      quantity: before.quantity - sign * taken,
      reserved: before.reserved + sign * reserved,
    });
  };
  for (const holding of held) add(holding, -1);
  for (const holding of wanted) add(holding, 1);
  return [...changes.values()].filter(({ quantity, reserved }) => quantity !== 0 || reserved !== 0);
};
