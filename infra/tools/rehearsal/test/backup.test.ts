import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempDisposableSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { environment, searchPath } from '../src/env.ts';
import { documentedCommands } from '../src/documented.ts';

/** Stands in for Docker in the commands of docs/backup.md: one database, and the spool in a folder of the machine. */
const DOCKER = `#!/bin/sh
case "$*" in
  *' config --services') echo store-webhooks ;;
  *' psql '*) echo quests ;;
  *' pg_dump '*) test ! -e no-database && echo 'dump of quests' ;;
  *' pg_restore '*) cat >restored ;;
  *' run --rm -T --no-deps store-webhooks '*)
    shift 6
    if [ "$1" = sh ]; then shift 2; fi
    mkdir -p spool
    eval "$(echo "$*" | sed 's|/repo/data|spool|')"
    ;;
esac
`;

const writeFiles = (folder: string, contents: Record<string, string>): void => {
  for (const [name, content] of Object.entries(contents)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
};

/** Two machines, `old` and `new`, that share the folder `disk`; `run` runs commands of the page on one of them. */
const openMachines = () => {
  const { path, remove } = mkdtempDisposableSync(join(tmpdir(), 'backup-'));
  writeFiles(path, {
    'bin/docker': DOCKER,
    'old/infra/deploy/.keep': '',
    'new/infra/deploy/.keep': '',
    'disk/.keep': '',
  });
  chmodSync(join(path, 'bin/docker'), 0o755);
  return {
    path,
    run: async (machine: string, heading: string) => {
      const { status, stderr } = spawnSync('sh', ['-ec', await documentedCommands('backup.md', heading)], {
        cwd: join(path, machine),
        env: environment({
          PATH: [join(path, 'bin'), ...searchPath()].join(':'),
          BACKUP: join(path, 'disk/platform'),
        }),
        encoding: 'utf8',
      });
      return { status, stderr };
    },
    read: (name: string) => readFileSync(join(path, name), 'utf8'),
    [Symbol.dispose]: remove,
  };
};

const machine = {
  'old/infra/deploy/.env': 'TAG=1.0.0\n',
  'old/infra/deploy/prepared/secrets/secrets-key': 'a key',
  'old/infra/deploy/prepared/values.yaml': 'nginx: { tls: { redirectTo: "https://api.example.test" } }',
  'old/infra/deploy/spool/0199/0001.spool': 'an acknowledged webhook',
  'old/infra/deploy/prepared/metrics/.keep': '',
  'disk/backup-disk': '',
};

test('no backup is written when the disk is not mounted', async () => {
  using machines = openMachines();
  const { status, stderr } = await machines.run('old', 'Take a backup');
  expect([status, stderr]).toEqual([1, expect.stringContaining('the disk is not mounted')]);
  expect(existsSync(join(machines.path, 'disk/platform.new'))).toBe(false);
});

test('a backup alone restores databases, keys, settings and spool on an empty machine', async () => {
  using machines = openMachines();
  writeFiles(machines.path, machine);
  chmodSync(join(machines.path, 'old/infra/deploy/prepared/secrets/secrets-key'), 0o444);
  expect(await machines.run('old', 'Take a backup')).toMatchObject({ status: 0 });
  // For the alert BackupOld.
  expect(machines.read('old/infra/deploy/prepared/metrics/backup.prom')).toMatch(
    /^platform_backup_timestamp_seconds \d{10}\n$/,
  );
  expect(await machines.run('new', 'Restore')).toMatchObject({ status: 0 });
  for (const [name, content] of Object.entries(machine).slice(0, 4))
    expect(machines.read(name.replace('old', 'new'))).toBe(content);
  expect(machines.read('new/infra/deploy/restored')).toBe('dump of quests\n');
  // The users of the containers must be able to read them.
  const { mode } = statSync(join(machines.path, 'new/infra/deploy/prepared/secrets/secrets-key'));
  expect(mode & 0o777).toBe(0o444);
  // Only the owner can read the backup.
  expect(statSync(join(machines.path, 'disk/platform')).mode & 0o77).toBe(0);
});

test('a restore keeps the keys and the newer spool of the machine', async () => {
  using machines = openMachines();
  writeFiles(machines.path, machine);
  await machines.run('old', 'Take a backup');
  cpSync(join(machines.path, 'old'), join(machines.path, 'new'), { recursive: true });
  writeFiles(machines.path, {
    'new/infra/deploy/prepared/secrets/secrets-key': 'a newer key',
    'new/infra/deploy/spool/0199/0001.spool': 'an acknowledged webhook, and one more',
  });
  expect(await machines.run('new', 'Restore')).toMatchObject({ status: 0 });
  expect(machines.read('new/infra/deploy/prepared/secrets/secrets-key')).toBe('a newer key');
  expect(machines.read('new/infra/deploy/spool/0199/0001.spool')).toBe(
    'an acknowledged webhook, and one more',
  );
});

test('a backup that fails leaves the last one as it was', async () => {
  using machines = openMachines();
  writeFiles(machines.path, machine);
  await machines.run('old', 'Take a backup');
  const began = machines.read('disk/platform/began');
  writeFiles(machines.path, { 'old/infra/deploy/no-database': '' });
  expect((await machines.run('old', 'Take a backup')).status).not.toBe(0);
  expect(machines.read('disk/platform/began')).toBe(began);
  expect(existsSync(join(machines.path, 'disk/platform.previous'))).toBe(false);
});
