import { Conflict } from '@platform/service-kit/problem';
import type { Change } from '../stock/domain.ts';
import type { Line } from './details.ts';

/**
 * The statuses that a PATCH may set next without `force`, and where the goods of the lines are in each status: `free`,
 * `reserved` for the consignment, or `taken` out of stock. A company may skip picking, packing and transit.
 * Source: docs/consignments.md (Statuses).
 */
export const transitions = {
  draft: { goods: 'free', next: ['booked', 'cancelled'] },
  booked: { goods: 'reserved', next: ['picking', 'packed', 'dispatched', 'cancelled'] },
  picking: { goods: 'reserved', next: ['packed', 'dispatched', 'cancelled'] },
  packed: { goods: 'reserved', next: ['dispatched', 'cancelled'] },
  dispatched: { goods: 'taken', next: ['in transit', 'delivered', 'lost'] },
  'in transit': { goods: 'taken', next: ['delivered', 'lost'] },
  delivered: { goods: 'taken', next: [] },
  cancelled: { goods: 'free', next: [] },
  lost: { goods: 'taken', next: [] },
} as const;

type Status = keyof typeof transitions;

/** The names of the statuses in the order of their numbers. */
export const statuses = Object.keys(transitions) as Status[];

const nameOf = (status: number): Status => statuses[status] ?? 'draft';

const goodsIn = (status: number) => transitions[nameOf(status)].goods;

/** Whether the goods of a consignment are taken out of stock in this status. */
export const isTaken = (status: number): boolean => goodsIn(status) === 'taken';

/** The places of the goods in the order of the statuses. */
export const goodsByStatus = Object.values(transitions).map(({ goods }) => goods);

/** A change of status. */
interface Transition {
  from: number;
  to: number;
}

/** Whether a change of status moves stock. */
export const movesGoods = ({ from, to }: Transition): boolean => goodsIn(from) !== goodsIn(to);

/** Throws Conflict `transition_not_allowed` for a change of status that needs `force`. */
export const requireTransition = ({ from, to }: Transition): void => {
  const next: readonly Status[] = transitions[nameOf(from)].next;
  if (next.includes(nameOf(to))) return;
  const allowed = next.length === 0 ? 'No status follows' : `It may become ${next.join(', ')}`;
  throw new Conflict(
    'transition_not_allowed',
    `A consignment that is ${nameOf(from)} cannot become ${nameOf(to)}. ${allowed}; anything else needs force and a reason.`,
  );
};

/** The change of an item's stock by one unit of a line. */
const effects = {
  free: { quantity: 0, reserved: 0 },
  reserved: { quantity: 0, reserved: 1 },
  taken: { quantity: -1, reserved: 0 },
};

/** The stock changes that the movements of a consignment with these lines must add up to in a status. */
export const holdingsIn = (status: number, lines: readonly Line[]): Change[] => {
  const unit = effects[goodsIn(status)];
  return lines.flatMap(({ productId, quantity: units }) =>
    productId === null
      ? []
      : [{ inventoryId: productId, quantity: units * unit.quantity, reserved: units * unit.reserved }],
  );
};
