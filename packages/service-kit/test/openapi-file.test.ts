import { mkdtemp, readFile, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { syncDocument } from '../src/http/openapi-file.ts';

test('the script that generates a file writes it only when its content changes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'generated-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = pathToFileURL(join(folder, 'openapi.json'));
  const longAgo = new Date(0);
  await expect(syncDocument({ a: 1 }, file, false)).rejects.toThrow('openapi.json does not match the routes');
  await syncDocument({ a: 1 }, file, true);
  await utimes(file, longAgo, longAgo);
  await syncDocument({ a: 1 }, file, true);
  expect((await stat(file)).mtime).toEqual(longAgo);
  await syncDocument({ a: 2 }, file, true);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ a: 2 });
  await syncDocument({ a: 2 }, file, false);
});
