/** Prints a line for the person at the terminal. */
export const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Prints a step with the seconds since the start. */
export const step = (what: string): void =>
  say(`${(performance.now() / 1_000).toFixed(1).padStart(6)} s  ${what}`);

// The reader of the output may go away (`start | head`); the stack keeps running.
process.stdout.on('error', () => undefined);
