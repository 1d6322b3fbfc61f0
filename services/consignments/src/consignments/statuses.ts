import { Conflict } from '@platform/service-kit/problem';
import type { Holding } from '../stock/domain.ts';
import type { Line } from './details.ts';

/**
 * What a PATCH may make of a status without `force`, and where the goods of the lines are then: `free`, `reserved` for the
 * consignment, or `taken` out of stock. A firm need not record that it picks and packs, or that goods are on their way.
 * Source: docs/consignments.md (Statuses).
 */
export const transitions = {
  draft: { goods: 'free', next: ['booked', 'cancelled'] },
  booked: { goods: 'reserved', next: ['picking', 'packed', 'dispatched', 'cancelled'] },
  picking: { goods: 'reserved', next: ['packed', 'dispatched', 'cancelled'] },
  packed: { goods: 'reserved', next: ['dispatched', 'cancelled'] },
  dispatched: { goods: 'taken', next: ['in transit', 'delivered'] },
  'in transit': { goods: 'taken', next: ['delivered'] },
  delivered: { goods: 'taken', next: [] },
  cancelled: { goods: 'free', next: [] },
} as const;

type Status = keyof typeof transitions;

/** The names of the statuses in the order of their numbers. */
export const statuses = Object.keys(transitions) as Status[];

const nameOf = (status: number): Status => statuses[status] ?? 'draft';

const goodsIn = (status: number) => transitions[nameOf(status)].goods;

/** Whether a change of status moves stock. */
export const movesGoods = ({ from, to }: { from: number; to: number }): boolean =>
  goodsIn(from) !== goodsIn(to);

/** Throws Conflict `transition_not_allowed` for a change of status that needs `force`. */
export const requireTransition = (from: number, to: number): void => {
  const next: readonly Status[] = transitions[nameOf(from)].next;
  if (next.includes(nameOf(to))) return;
  const allowed = next.length === 0 ? 'Nothing follows' : `It may become ${next.join(', ')}`;
  throw new Conflict(
    'transition_not_allowed',
    `A consignment that is ${nameOf(from)} cannot become ${nameOf(to)}. ${allowed}; anything else needs force and a reason.`,
  );
};

/** What a consignment with these lines holds of our stock in a status. */
export const holdingsIn = (status: number, lines: readonly Line[]): Holding[] => {
  const goods = goodsIn(status);
  return lines.flatMap(({ productId, quantity }) =>
    productId === null || goods === 'free'
      ? []
      : [
          {
            inventoryId: productId,
            reserved: goods === 'reserved' ? quantity : 0,
            taken: goods === 'taken' ? quantity : 0,
          },
        ],
  );
};
