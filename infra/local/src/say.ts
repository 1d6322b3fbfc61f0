/** Everything that this package tells the person at the terminal goes through here, a line at a time. */
export const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
