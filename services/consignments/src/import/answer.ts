/** Result lines as text. All lines up to `line` are committed. */
export interface Confirmed {
  line: number;
  text: string;
}

/**
 * Sends the result lines of an import. Until `release` they stay in the database, so that none is kept in memory. `read`
 * returns the stored results of lines `from` to `to`.
 */
export const createResultSender = (
  firstLine: number,
  send: (text: string) => Promise<void>,
  read: (from: number, to: number) => AsyncIterable<Confirmed>,
) => {
  let sent = firstLine - 1;
  let committed = sent;
  let released = false;
  let lastWork: Promise<void> = Promise.resolve();
  const inOrder = (work: () => Promise<void>): Promise<void> => (lastWork = lastWork.then(work));

  const sendStored = async (): Promise<void> => {
    for await (const { line, text } of read(sent + 1, committed)) {
      await send(text);
      sent = line;
    }
    sent = committed;
  };
  return {
    /** Sends the results, or leaves them in the database until `release`. */
    confirm: ({ line, text }: Confirmed): Promise<void> =>
      inOrder(async () => {
        committed = line;
        if (!released) return;
        await send(text);
        sent = line;
      }),
    /** Sends the results that were left in the database; from then on `confirm` sends at once. */
    release: (): Promise<void> =>
      inOrder(async () => {
        if (released || sent === committed) return;
        await sendStored();
        released = true;
      }),
    /** Sends the results that were left in the database, if it can read them. Returns the first line without a result. */
    end: async (): Promise<number> => {
      // `confirm` or `release` has rejected with the first error. The response reports an error of the import, not of this.
      await lastWork.catch(() => undefined);
      await sendStored().catch(() => undefined);
      return sent + 1;
    },
  };
};
