import { Unavailable } from '../http/problem.ts';
import { currentRequest } from './request-scope.ts';

export interface SlotLimits {
  /** Maximum number of slots in use at the same time. */
  max: number;
  maxPerCaller: number;
  /** Many accounts in one network may belong to one person. Default: `max`. */
  maxPerNetwork?: number;
  /** Whether running work can lose its slot to another client: its `preempted` signal is aborted, and it must end. */
  preemptible?: boolean;
  /** The problem (503) for a caller that gets no slot. */
  code: string;
  detail: string;
}

interface Slot {
  caller: string;
  network: string;
  since: number;
  preempted: AbortController;
}

/** A slot of a client that has few of them cannot be preempted before this time has passed, in ms. */
const guaranteedMs = 300_000;

/** The slots of the caller or network that has the most of them. */
const largestGroup = (slots: readonly Slot[], key: 'caller' | 'network'): Slot[] =>
  [...Map.groupBy(slots, (slot) => slot[key]).values()].reduce(
    (largest, group) => (group.length > largest.length ? group : largest),
    [],
  );

/**
 * Bounds work whose duration the client decides, such as a download. If work is preemptible and no slot is free, a network
 * takes a slot from a network that has at least two more; in a full network a caller takes one from a caller in the same way.
 * A caller without a slot also takes one that was held for five minutes by a network with more slots, or by its own full
 * network.
 */
export const createFairSlots = (limits: SlotLimits) => {
  const { max, maxPerCaller, maxPerNetwork = max, preemptible = false, code, detail } = limits;
  /** The oldest first. */
  const slots = new Set<Slot>();
  /** Returns `free`, or the slot that the caller may preempt; undefined if the caller gets none. */
  const findSlot = (caller: string, network: string): Slot | 'free' | undefined => {
    const allSlots = [...slots];
    const callerCount = allSlots.filter((slot) => slot.caller === caller).length;
    if (callerCount >= maxPerCaller) return undefined;
    const networkSlots = allSlots.filter((slot) => slot.network === network);
    const isNetworkFull = networkSlots.length >= maxPerNetwork;
    if (allSlots.length < max && !isNetworkFull) return 'free';
    if (!preemptible) return undefined;
    const crowd = isNetworkFull ? networkSlots : largestGroup(allSlots, 'network');
    const victims = largestGroup(crowd, 'caller');
    if (isNetworkFull ? victims.length > callerCount + 1 : crowd.length > networkSlots.length + 1)
      return victims[0];
    if (callerCount > 0) return undefined;
    // A network with several slots must not take the only slot of another network.
    const byNetwork = Map.groupBy(allSlots, (slot) => slot.network);
    const isPreemptible = ({ network: holder, since }: Slot) =>
      (isNetworkFull ? holder === network : (byNetwork.get(holder)?.length ?? 0) > networkSlots.length) &&
      performance.now() - since > guaranteedMs;
    return allSlots.find(isPreemptible);
  };
  /** Runs `work` in a slot. Throws Unavailable when the caller gets none. */
  return async <T>(
    caller: string,
    work: (preempted: AbortSignal) => Promise<T>,
    network = currentRequest()?.network ?? '',
  ): Promise<T> => {
    const available = findSlot(caller, network);
    if (available === undefined) throw new Unavailable(code, detail);
    if (available !== 'free') {
      slots.delete(available);
      available.preempted.abort();
    }
    const slot = { caller, network, since: performance.now(), preempted: new AbortController() };
    slots.add(slot);
    try {
      return await work(slot.preempted.signal);
    } finally {
      slots.delete(slot);
    }
  };
};
