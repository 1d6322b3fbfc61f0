import { Unavailable } from '@platform/service-kit/problem';
import { createTally } from '@platform/service-kit/tally';

/** The largest body of a webhook, in bytes. */
export const maxBody = 1_048_576;

/** Whose bodies are counted together. */
interface Holder {
  name: string;
  /** In bytes. */
  most: number;
  /** May use no more than this one has left. */
  sharing?: Holder;
}

/** A buffer takes about this much besides its content, so a body in pieces of one byte must not count as its length. */
const minPiece = 512;
/** A share holds at least this much: the largest body, in pieces of 512 bytes or more. */
const minShare = 2 * maxBody;

export type BodyMemory = ReturnType<typeof createBodyMemory>;

/**
 * Limits the bodies that are in memory at the same time to `maxBytes` and those of one store to a quarter of it. A network
 * may use as much as is left, of all memory and of its store's: alone half, and beside others that use as much as they
 * may an equal share, so that a few networks never take all from the next one. Only bytes that have arrived count, so an
 * upload that sends nothing takes nothing from others.
 */
export const createBodyMemory = (maxBytes: number) => {
  const used = createTally();
  const storeShare = Math.max(minShare, maxBytes / 4);
  /** Each with the holder whose memory it shares. */
  const holdersOf = (storeId: string, network: string): Holder[] => {
    const all = { name: 'all', most: maxBytes };
    const store = { name: `store ${storeId}`, most: storeShare };
    const inAll = { name: `network ${network}`, most: maxBytes, sharing: all };
    return [all, store, inAll, { name: `${store.name} ${network}`, most: storeShare, sharing: store }];
  };
  const hasRoom = ({ name, most, sharing }: Holder, bytes: number): boolean => {
    const left = sharing === undefined ? most : Math.max(minShare, most - used.of(sharing.name) - bytes);
    return used.of(name) + bytes <= left;
  };
  return {
    /** Bytes that are reserved now. */
    get bytes(): number {
      return used.of('all');
    },
    /** Begins a body of a store that comes from a network (`widestNetworkOf`). */
    open: (storeId: string, network: string) => {
      const holders = holdersOf(storeId, network);
      let own = 0;
      const change = (bytes: number): void => {
        own += bytes;
        for (const { name } of holders) used.add(name, bytes);
      };
      return {
        /** Reserves memory for a piece that has arrived. Throws Unavailable when there is not enough left. */
        add: ({ length }: Buffer): void => {
          const bytes = Math.max(length, minPiece);
          if (!holders.every((holder) => hasRoom(holder, bytes)))
            throw new Unavailable('too_busy', 'Too many webhooks are being received; send it again later.');
          change(bytes);
        },
        /** Gives everything back; may be called again. */
        release: (): void => change(-own),
      };
    },
  };
};
