import { Unavailable } from '@platform/service-kit/problem';
import { maxBody } from './body.ts';

/** The memory of one body, until it is stored or given up. */
export interface BodyReservation {
  /** Reserves memory for a piece that has arrived. Throws Unavailable when there is not enough left. */
  add(piece: Buffer): void;
  /** Gives everything back; may be called again. */
  release(): void;
}

export interface BodyMemory {
  /** Bytes that are reserved now. */
  readonly bytes: number;
  /** Begins a body of a store that comes from a network (see `networkOf`). */
  open(storeId: string, network: string): BodyReservation;
}

/** A buffer takes about this much besides its content, so a body in pieces of one byte must not count as its length. */
const minPiece = 512;
/** A share holds at least this much: the largest body, in pieces of 512 bytes or more. */
const minShare = 2 * maxBody;

/**
 * Limits the bodies that are in memory at the same time to `maxBytes`, those of one store to a quarter and those from one
 * network to half of it. Only bytes that have arrived count, so an upload that sends nothing takes nothing from others.
 */
export const createBodyMemory = (maxBytes: number): BodyMemory => {
  const used = new Map<string, number>();
  const usedBy = (holder: string): number => used.get(holder) ?? 0;
  const limits = (storeId: string, network: string): [holder: string, limit: number][] => [
    ['all', maxBytes],
    [`store ${storeId}`, Math.max(minShare, maxBytes / 4)],
    [`network ${network}`, Math.max(minShare, maxBytes / 2)],
  ];
  return {
    get bytes() {
      return usedBy('all');
    },
    open: (storeId, network) => {
      const holders = limits(storeId, network);
      let own = 0;
      const change = (bytes: number): void => {
        own += bytes;
        for (const [holder] of holders) {
          const left = usedBy(holder) + bytes;
          if (left > 0) used.set(holder, left);
          else used.delete(holder);
        }
      };
      return {
        add: ({ length }) => {
          const bytes = Math.max(length, minPiece);
          if (holders.some(([holder, limit]) => usedBy(holder) + bytes > limit))
            throw new Unavailable('too_busy', 'Too many webhooks are being received; send it again later.');
          change(bytes);
        },
        release: () => change(-own),
      };
    },
  };
};
