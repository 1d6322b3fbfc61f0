import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findLeaks, readLogs } from '../src/crash-test.ts';

test('a secret is found in any log, and files that store secrets are not searched', async () => {
  const local = await mkdtemp(join(tmpdir(), 'leaks-'));
  onTestFinished(() => rm(local, { recursive: true }));
  await mkdir(join(local, 'logs/gateway'), { recursive: true });
  await writeFile(join(local, 'logs/gateway/access.log'), '{"path":"/hooks/tell-nobody"}\n');
  await writeFile(join(local, 'logs/postgres.log'), 'LOG: ready\n');
  await writeFile(join(local, 'secrets.json'), '{"postgres":"tell-nobody"}');
  expect(findLeaks(await readLogs(local), ['quite-another', 'tell-nobody'])).toEqual([
    'logs/gateway/access.log contains secret 1 (11 characters)',
  ]);
});
