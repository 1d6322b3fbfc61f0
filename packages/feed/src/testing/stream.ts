/** A server-sent event. Heartbeats and the end of a stream have only some of the fields. */
export interface StreamEvent {
  id?: string;
  event?: string;
  data?: string;
  retry?: string;
}

/** Opens a stream of events. `next` returns the next change, `events` has all events, and `ended` resolves when the server ends it. */
export const openStream = async (url: string, headers: Record<string, string>) => {
  const abort = new AbortController();
  const response = await fetch(url, {
    headers: { Accept: 'text/event-stream', ...headers },
    signal: abort.signal,
  });
  const events: StreamEvent[] = [];
  let arrived = Promise.withResolvers<void>();
  const read = async (): Promise<void> => {
    let text = '';
    for await (const chunk of (response.body ?? new ReadableStream<Uint8Array>()).pipeThrough(
      new TextDecoderStream(),
    )) {
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = block.split('\n').map((line) => /^(\w*): ?(.*)$/.exec(line) ?? []);
        events.push(
          Object.fromEntries(
            fields.flatMap(([, name, value]) => (name ? [[name, value]] : [])),
          ) as StreamEvent,
        );
      }
      arrived.resolve();
      arrived = Promise.withResolvers();
    }
  };
  const ended = response.ok && response.body ? read() : Promise.resolve();
  ended.catch(() => undefined);
  let seen = 0;
  return {
    response,
    events,
    ended,
    next: async (): Promise<Required<Omit<StreamEvent, 'retry'>>> => {
      for (;;) {
        const event = events[seen];
        if (event === undefined)
          await Promise.race([
            arrived.promise,
            ended.then(() => Promise.reject(new Error('the stream has ended'))),
          ]);
        else {
          seen += 1;
          if (event.data !== undefined) return event as Required<StreamEvent>;
        }
      }
    },
    [Symbol.dispose]: () => abort.abort(),
  };
};

interface Page {
  changes: readonly { id: string }[];
  next: string;
  has_more: boolean;
}

/** Follows a list from a cursor to its end and returns the number of changed records. `read` requests a page. */
export const countFollowed = async (
  read: (query: string) => Promise<Response>,
  cursor: string,
): Promise<number> => {
  const seen = new Set<string>();
  for (let [after, isMore] = [cursor, true]; isMore;) {
    const page = (await (await read(`?limit=1000&after=${after}`)).json()) as Page;
    for (const { id } of page.changes) seen.add(id);
    [after, isMore] = [page.next, page.has_more];
  }
  return seen.size;
};
