/** Rejects with `late()` when `work` takes longer than `ms`; the work itself goes on. */
export const withTimeout = async <T>(ms: number, late: () => Error, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
};
