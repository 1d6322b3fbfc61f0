import { Conflict, Problem } from '@platform/service-kit/problem';
import type { z } from 'zod';
import type { Left } from './schema.ts';

/** The stock of an inventory item; `held` is the part of `reserved` that belongs to consignments. */
export interface Stock {
  id: string;
  partnerId: string;
  quantity: number;
  reserved: number;
  held: number;
}

/** A change of the stock of one item. */
export interface Change {
  inventoryId: string;
  quantity: number;
  reserved: number;
  /** Undefined for a change by hand, which does not change `held`. */
  consignmentId?: string;
}

const maxUnits = 2_147_483_647;

const notEnoughStock = (lacking: readonly Stock[]): Problem => {
  const left: z.output<typeof Left> = lacking.map(({ id, quantity, reserved }) => ({
    inventoryId: id,
    quantity,
    reserved,
    available: quantity - reserved,
  }));
  const texts = lacking.map(
    ({ id, quantity, reserved, held }) =>
      `Inventory item ${id}: quantity ${quantity}, reserved ${reserved} (${held} of it by consignments).`,
  );
  return new Problem({ status: 409, code: 'not_enough_stock', detail: texts.join(' '), members: { left } });
};

/**
 * Throws a Problem unless the stocks allow the changes (at most one per item): Conflict `too_much_stock`, and
 * `not_enough_stock` unless 0 ≤ held ≤ reserved ≤ quantity afterwards.
 */
export const requireStock = (stocks: readonly Stock[], changes: readonly Change[]): void => {
  const lacking = stocks.filter((stock) => {
    const change = changes.find(({ inventoryId }) => inventoryId === stock.id);
    const quantity = stock.quantity + (change?.quantity ?? 0);
    const reserved = stock.reserved + (change?.reserved ?? 0);
    const held = stock.held + (change?.consignmentId === undefined ? 0 : change.reserved);
    if (quantity > maxUnits)
      throw new Conflict('too_much_stock', `Inventory item ${stock.id} would exceed ${maxUnits} units.`);
    return held < 0 || reserved < held || quantity < reserved;
  });
  if (lacking.length > 0) throw notEnoughStock(lacking);
};
