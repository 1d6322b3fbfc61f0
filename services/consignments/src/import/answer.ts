import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A response body of any length that can be held back. */
export interface HeldAnswer extends AsyncDisposable {
  /** Sends the text, or stores it until `release`. Rejects when the client is gone. */
  add(text: string): Promise<void>;
  /** Sends the stored text; from then on `add` sends at once. */
  release(): Promise<void>;
}

/** An unlinked temporary file: it disappears when it is closed, however the process ends. */
const openUnlinkedFile = async (): Promise<FileHandle> => {
  const path = join(tmpdir(), `import-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
};

/** Sends as fast as the client reads. Text that is held back is stored in a file, so that memory stays flat. */
export const holdAnswer = (res: ServerResponse): HeldAnswer => {
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  let file: FileHandle | undefined;
  let released = false;
  let last: Promise<void> = Promise.resolve();
  const inOrder = (work: () => Promise<void>): Promise<void> => (last = last.then(work));

  const send = async (text: string | Buffer): Promise<void> => {
    if (!res.write(text)) await once(res, 'drain', { signal: gone.signal });
  };
  return {
    add: (text) =>
      inOrder(async () => {
        if (released) return send(text);
        file ??= await openUnlinkedFile();
        await file.appendFile(text);
      }),
    release: () =>
      inOrder(async () => {
        if (released || file === undefined) return;
        released = true;
        const kept = file.createReadStream({ start: 0, autoClose: false });
        for await (const piece of kept) await send(piece as Buffer);
      }),
    [Symbol.asyncDispose]: async () => {
      // `add` or `release` has already rejected with this error.
      await last.catch(() => undefined);
      await file?.close();
    },
  };
};
