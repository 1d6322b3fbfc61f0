/**
 * Creates a generator of random numbers from 0 to 1 (Mulberry32) and prints its seed. Pass a printed seed to repeat a run; the
 * order of concurrent sessions may still differ.
 */
export const seededRandom = (seed: number = Date.now() % 2 ** 32): (() => number) => {
  process.stdout.write(`random seed: ${seed}\n`);
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
