import { Unavailable } from '@platform/service-kit/problem';
import { createTally } from '@platform/service-kit/tally';

/** Readers of results at the same time, and of one caller: each holds some thousand lines that it has not taken yet. */
const [most, mostOfCaller] = [10, 2];

/** Bounds the readers of results, which may take as long as they like. */
export const createReaders = () => {
  const byCaller = createTally();
  let all = 0;
  const add = (caller: string, by: 1 | -1): void => {
    all += by;
    byCaller.add(caller, by);
  };
  return {
    /** Throws Unavailable when too many read. */
    begin: (caller: string): void => {
      if (all >= most || byCaller.of(caller) >= mostOfCaller)
        throw new Unavailable('too_many_downloads', 'Too many results are being read; try again shortly.');
      add(caller, 1);
    },
    end: (caller: string): void => add(caller, -1),
  };
};
