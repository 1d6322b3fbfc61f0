/** Prints a line for the person at the terminal. */
export const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Prints a completed step with the seconds since the start. */
export const printStep = (message: string): void =>
  print(`${(performance.now() / 1_000).toFixed(1).padStart(6)} s  ${message}`);

// The reader of the output may go away (`start | head`); the stack keeps running.
process.stdout.on('error', () => undefined);
