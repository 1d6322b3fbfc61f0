const EVERY_MS = 500;

/** Calls back when our parent has gone: `npx` and `pnpm` may be killed without telling us. */
export const whenParentGoes = (gone: () => void): void => {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    gone();
  }, EVERY_MS);
  timer.unref();
};
