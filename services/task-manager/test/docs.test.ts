import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ownDatabase, variablesFor } from './harness.ts';
import { startProcess } from './service-process.ts';

const page = new URL('../../../docs/task-manager.md', import.meta.url);

test('the commands of the documentation work as they are written', async () => {
  await using database = await ownDatabase();
  await using service = await startProcess(variablesFor(database.url));
  const text = await readFile(page, 'utf8');
  const commands = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block ?? '').join('\n');
  const folder = await mkdtemp(join(tmpdir(), 'docs-'));
  try {
    const script = commands.replaceAll('http://127.0.0.1:8080', service.url);
    const { stdout } = await promisify(execFile)('sh', ['-ec', script], { cwd: folder });
    const answers = stdout.split(/(?<=\})(?=[{\d])|\n/).filter((answer) => answer !== '');
    const told = answers.map((answer) => JSON.parse(answer) as { status?: unknown; code?: string } | number);
    expect(told).toMatchObject([
      { user: { name: 'Ada' } },
      { title: 'Water the plants', version: 1 },
      { tasks: [{ title: 'Water the plants' }], page: { number: 1, limit: 5, has_more: false } },
      { user: { name: 'Ada' } },
      204,
      { title: 'Call Eve', status: 'done', version: 2 },
      { status: 412, code: 'stale' },
      204,
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
