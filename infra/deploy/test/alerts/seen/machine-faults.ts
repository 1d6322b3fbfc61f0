import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signal } from '@platform/local/process';
import type { Fault } from './faults.ts';
import type { Mend, Target } from './platform.ts';

/** Writes a self-signed certificate that expires in `days` days, and its key. Returns the paths of both. */
export const writeCertificate = (folder: string, days: number): { certificate: string; key: string } => {
  const [certificate, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  const subject = ['-subj', '/CN=localhost', '-days', String(days)];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-noenc', '-keyout', key, '-out', certificate, ...subject],
    { stdio: 'ignore' },
  );
  return { certificate, key };
};

/** As the commands of docs/backup.md do it. */
const backUp = ({ folder }: Target, hoursAgo: number): void =>
  writeFileSync(
    join(folder, 'metrics/backup.prom'),
    `platform_backup_timestamp_seconds ${Math.round(Date.now() / 1000) - hoursAgo * 3600}\n`,
  );

/** Of the machine. They need root. */
export const machineFaults: readonly Fault[] = [
  {
    fault: 'the last backup two days old',
    clears: 'the next backup',
    alerts: ['BackupOld ticket'],
    provoke: (target) => {
      backUp(target, 48);
      return Promise.resolve(() => Promise.resolve(backUp(target, 0)));
    },
  },
  {
    fault: 'a disk (16 MB, mounted for it) that is full',
    clears: 'the file is removed',
    alerts: ['DiskNearlyFull node-exporter'],
    provoke: ({ folder }): Promise<Mend> => {
      const [image, disk] = [join(folder, 'disk.img'), join(folder, 'disk')];
      mkdirSync(disk);
      const run = (program: string, ...args: string[]) =>
        void execFileSync(program, args, { stdio: 'ignore' });
      run('truncate', '-s', '16M', image);
      run('mkfs.ext4', '-q', image);
      run('mount', '-o', 'loop', image, disk);
      writeFileSync(join(disk, 'log'), Buffer.alloc(12_000_000));
      return Promise.resolve(() => Promise.resolve(run('umount', disk)));
    },
  },
  {
    fault: 'a certificate of the gateway that ends in ten days',
    clears: 'a new certificate, and HUP',
    alerts: ['CertificateExpires gateway'],
    provoke: async ({ folder, stack }) => {
      const renew = async (days: number): Promise<void> => {
        writeCertificate(folder, days);
        signal((await stack.pids())['nginx'] ?? 0, 'SIGHUP');
      };
      await renew(10);
      return () => renew(60);
    },
  },
];
