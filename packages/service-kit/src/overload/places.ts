import { Unavailable } from '../http/problem.ts';
import { currentRequest } from './request-scope.ts';

export interface Bounds {
  /** How much of this work runs at a time, of all callers together and of one. */
  most: number;
  mostOfCaller: number;
  /** Of those that share a network, where many accounts may be one person; `most` unless given. */
  mostOfNetwork?: number;
  /** Whether work gives way to that of others who have less: its `lost` is aborted then, and it has to end. */
  givesWay?: boolean;
  /** The problem (503) of further callers. */
  code: string;
  detail: string;
}

interface Place {
  caller: string;
  network: string;
  since: number;
  lost: AbortController;
}

/** How long a place is kept for sure where work gives way, in ms. */
const fairMs = 300_000;

/** The places of whom has the most. */
const largest = (places: readonly Place[], key: 'caller' | 'network'): Place[] =>
  [...Map.groupBy(places, (place) => place[key]).values()].reduce(
    (most, group) => (group.length > most.length ? group : most),
    [],
  );

/**
 * Bounds work that may take as long as the client likes. Where work gives way, who has at least two fewer than another takes
 * one of theirs when there is none left: a network from a network, or in a full network a caller from a caller. A caller without
 * any takes one that has been held for five minutes by a network with more places, or by its own full one.
 */
export const createPlaces = (bounds: Bounds) => {
  const { most, mostOfCaller, mostOfNetwork = most, givesWay = false, code, detail } = bounds;
  /** The oldest first. */
  const places = new Set<Place>();
  /** Whose place a newcomer takes; `free` when it needs none, undefined when there is none for it. */
  const placeFor = (caller: string, network: string): Place | 'free' | undefined => {
    const all = [...places];
    const own = all.filter((place) => place.caller === caller).length;
    if (own >= mostOfCaller) return undefined;
    const neighbours = all.filter((place) => place.network === network);
    const isNetworkFull = neighbours.length >= mostOfNetwork;
    if (all.length < most && !isNetworkFull) return 'free';
    if (!givesWay) return undefined;
    const crowd = isNetworkFull ? neighbours : largest(all, 'network');
    const ofOne = largest(crowd, 'caller');
    if (isNetworkFull ? ofOne.length > own + 1 : crowd.length > neighbours.length + 1) return ofOne[0];
    if (own > 0) return undefined;
    // Not from a network with fewer: one that has places could end the only one of another.
    const counts = Map.groupBy(all, (place) => place.network);
    const isLong = ({ network: of, since }: Place) =>
      (isNetworkFull ? of === network : (counts.get(of)?.length ?? 0) > neighbours.length) &&
      performance.now() - since > fairMs;
    return all.find(isLong);
  };
  /** Does the work of a caller. Throws Unavailable when there is no place for it. */
  return async <T>(
    caller: string,
    work: (lost: AbortSignal) => Promise<T>,
    network = currentRequest()?.network ?? '',
  ): Promise<T> => {
    const found = placeFor(caller, network);
    if (found === undefined) throw new Unavailable(code, detail);
    if (found !== 'free') {
      places.delete(found);
      found.lost.abort();
    }
    const place = { caller, network, since: performance.now(), lost: new AbortController() };
    places.add(place);
    try {
      return await work(place.lost.signal);
    } finally {
      places.delete(place);
    }
  };
};
