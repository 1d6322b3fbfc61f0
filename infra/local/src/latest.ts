/** Work that follows a state: asked for many times in a row, it runs once more after the last asking, never twice at once. */
export interface Latest {
  request: () => void;
  /** Waits until nothing is asked for. */
  done: () => Promise<void>;
}

export const latest = (work: () => Promise<void>): Latest => {
  let asked = false;
  let running: Promise<void> = Promise.resolve();
  const run = async (): Promise<void> => {
    if (!asked) return;
    asked = false;
    await work();
  };
  return {
    request: () => {
      asked = true;
      running = running.then(run);
    },
    done: () => running,
  };
};
