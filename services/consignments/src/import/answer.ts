import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Response } from 'express';

/** An answer that can be held back for as long as it takes, in any length. */
export interface HeldAnswer extends AsyncDisposable {
  /** Sends, or keeps what is not to be sent yet. Rejects when the caller is gone. */
  add(text: string): Promise<void>;
  /** Sends what is kept, if anything is; from then on everything is sent at once. */
  release(): Promise<void>;
}

/** A file that only we know and that is gone when it is closed, however the process ends. */
const openNameless = async (): Promise<FileHandle> => {
  const path = join(tmpdir(), `import-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
};

/** Writes as fast as the caller reads. What is held back stands in a file, so that memory stays flat. */
export const holdAnswer = (res: Response): HeldAnswer => {
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
        file ??= await openNameless();
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
      // Whoever added or released has been told.
      await last.catch(() => undefined);
      await file?.close();
    },
  };
};
