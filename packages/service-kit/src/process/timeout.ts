/** Rejects with `createError()` when `work` takes longer than `ms`. The work itself continues. */
export const withTimeout = async <T>(ms: number, createError: () => Error, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(createError()), ms);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
};
