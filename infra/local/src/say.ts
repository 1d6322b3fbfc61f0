/** Everything that this package tells the person at the terminal goes through here. */
export const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Says what has been reached, with the seconds since the command began. */
export const step = (what: string): void =>
  say(`${(performance.now() / 1_000).toFixed(1).padStart(6)} s  ${what}`);

// Whoever reads our words may stop reading; the stack goes on without a listener.
process.stdout.on('error', () => undefined);
