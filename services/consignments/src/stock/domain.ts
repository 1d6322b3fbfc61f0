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
  /** Undefined for a change by hand, which leaves alone what consignments hold. */
  consignmentId?: string;
}

const maxUnits = 2_147_483_647;

const notEnoughStock = (short: readonly Stock[]): Problem => {
  const left: z.output<typeof Left> = short.map(({ id, quantity, reserved }) => ({
    inventoryId: id,
    quantity,
    reserved,
    available: quantity - reserved,
  }));
  const texts = short.map(
    ({ id, quantity, reserved, held }) =>
      `Inventory item ${id}: quantity ${quantity}, reserved ${reserved} (${held} of it by consignments).`,
  );
  return new Problem({ status: 409, code: 'not_enough_stock', detail: texts.join(' '), members: { left } });
};

/**
 * Throws a Problem unless the items can be changed so, each once: Conflict `too_much_stock`, and `not_enough_stock` unless
 * afterwards what consignments hold is reserved, what is reserved is there, and nothing is below zero.
 */
export const requireStock = (stocks: readonly Stock[], changes: readonly Change[]): void => {
  const short = stocks.filter((stock) => {
    const change = changes.find(({ inventoryId }) => inventoryId === stock.id);
    const quantity = stock.quantity + (change?.quantity ?? 0);
    const reserved = stock.reserved + (change?.reserved ?? 0);
    const held = stock.held + (change?.consignmentId === undefined ? 0 : change.reserved);
    if (quantity > maxUnits)
      throw new Conflict('too_much_stock', `Inventory item ${stock.id} would exceed ${maxUnits} units.`);
    return held < 0 || reserved < held || quantity < reserved;
  });
  if (short.length > 0) throw notEnoughStock(short);
};
