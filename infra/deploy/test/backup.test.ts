import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { inherited } from './env.ts';
import { root } from './service.ts';

/** A stand-in for docker with one service and its database. A dump begins and then waits for the file `go`. */
const docker = `#!/bin/sh
cd "$FOLDER"
echo "$*" >> commands
case "$*" in
  *'config --services') echo task-manager ;;
  *'select datname'*) echo task_manager ;;
  *pg_dump*) touch dumping; while [ ! -e go ]; do sleep 0.05; done; echo dump ;;
esac
`;

const prepare = () => {
  const cwd = mkdtempSync(join(tmpdir(), 'backup-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  for (const folder of ['bin', 'disk', 'prepared/metrics', 'prepared/secrets'])
    mkdirSync(join(cwd, folder), { recursive: true });
  writeFileSync(join(cwd, 'disk/backup-disk'), '');
  writeFileSync(join(cwd, 'bin/docker'), docker, { mode: 0o755 });
  const PATH = `${join(cwd, 'bin')}:${inherited.PATH}`;
  const env = {
    ...inherited,
    PATH,
    BACKUP: join(cwd, 'disk/platform'),
    PREPARED: join(cwd, 'prepared'),
    FOLDER: cwd,
  };
  const scriptOf = (name: string) => [join(root, 'infra/deploy', name)];
  return {
    start: (name: string) => spawn('sh', scriptOf(name), { cwd, env, stdio: 'ignore' }),
    run: (name: string) => spawnSync('sh', scriptOf(name), { cwd, env, encoding: 'utf8', timeout: 20_000 }),
    read: (file: string) => readFileSync(join(cwd, file), 'utf8'),
    exists: (file: string) => existsSync(join(cwd, file)),
    write: (file: string) => writeFileSync(join(cwd, file), ''),
  };
};

test('a backup that begins during another one is refused, and the other one is complete', async () => {
  const { start, run, read, exists, write } = prepare();
  const first = start('backup.sh');
  const ended = once(first, 'exit');
  await vi.waitFor(() => expect(exists('dumping')).toBe(true), { timeout: 15_000 });
  const second = run('backup.sh');
  expect([second.status, second.stderr]).toEqual([1, 'another backup is running\n']);
  write('go');
  expect(await ended).toEqual([0, null]);
  expect(read('disk/platform/task_manager.dump')).toBe('dump\n');
});

test('a restore ends the sessions of all users before the services start', () => {
  const { run, read, write } = prepare();
  write('go');
  expect(run('backup.sh').status).toBe(0);
  expect(run('restore.sh')).toMatchObject({ status: 0, stderr: '' });
  const commands = read('commands').trimEnd().split('\n');
  const indexOf = (text: string) => commands.findIndex((command) => command.includes(text));
  expect(indexOf('pg_restore')).toBeGreaterThan(0);
  expect(indexOf('delete from task_manager.sessions')).toBeGreaterThan(indexOf('pg_restore'));
  expect(commands.at(-1)).toBe('compose up --wait');
});
