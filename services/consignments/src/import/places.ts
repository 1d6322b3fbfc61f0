import { Unavailable } from '@platform/service-kit/problem';
import { createTally } from '@platform/service-kit/tally';

interface Bounds {
  /** How much of this work runs at a time, of all callers together and of one. */
  most: number;
  mostOfCaller: number;
  /** The problem (503) of further callers. */
  code: string;
  detail: string;
}

/** Readers of results, each of which holds some thousand lines that it has not taken yet. */
export const readerBounds: Bounds = {
  most: 10,
  mostOfCaller: 2,
  code: 'too_many_downloads',
  detail: 'Too many results are being read; try again shortly.',
};

/** Imports, each of which holds up to a megabyte of lines that wait for a connection (docs/adr/0180). */
export const importBounds: Bounds = {
  most: 40,
  mostOfCaller: 10,
  code: 'too_many_imports',
  detail: 'Too many imports are running; try again shortly.',
};

/** Bounds work that may take as long as the client likes. */
export const createPlaces = ({ most, mostOfCaller, code, detail }: Bounds) => {
  const byCaller = createTally();
  let all = 0;
  const add = (caller: string, by: 1 | -1): void => {
    all += by;
    byCaller.add(caller, by);
  };
  /** Does the work of a caller. Throws Unavailable when there is too much. */
  return async <T>(caller: string, work: () => Promise<T>): Promise<T> => {
    if (all >= most || byCaller.of(caller) >= mostOfCaller) throw new Unavailable(code, detail);
    add(caller, 1);
    try {
      return await work();
    } finally {
      add(caller, -1);
    }
  };
};
