/** Result lines as text; all lines up to `line` are committed. */
export interface Confirmed {
  line: number;
  text: string;
}

/**
 * The result lines of an import, which can be held back: they are stored already, so that nothing is kept here. `read` gives
 * the stored results of lines `from` to `to`.
 */
export const holdAnswer = (
  firstLine: number,
  send: (text: string) => Promise<void>,
  read: (from: number, to: number) => AsyncIterable<Confirmed>,
) => {
  let sent = firstLine - 1;
  let committed = sent;
  let released = false;
  let last: Promise<void> = Promise.resolve();
  const inOrder = (work: () => Promise<void>): Promise<void> => (last = last.then(work));

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
    /** Sends what was held back; from then on `confirm` sends at once. */
    release: (): Promise<void> =>
      inOrder(async () => {
        if (released || sent === committed) return;
        await sendStored();
        released = true;
      }),
    /** Sends what was held back, if it can be read, and returns the first line without a result. */
    end: async (): Promise<number> => {
      // `confirm` or `release` has already rejected with this error; an outage is what the answer reports.
      await last.catch(() => undefined);
      await sendStored().catch(() => undefined);
      return sent + 1;
    },
  };
};
