import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inherited, trusted } from '../env.ts';
import { root } from '../service.ts';
import { build, type Stage } from './build.ts';

export const dockerfile = readFileSync(join(root, 'infra/deploy/Dockerfile'), 'utf8');

interface Image extends Stage {
  /** How to start a program of the image, as its user and with its settings. */
  program(args: readonly string[], env: Record<string, string>): Program;
}

interface Program {
  file: string;
  args: string[];
  options: { cwd: string; env: Record<string, string>; uid: number | undefined; gid: number | undefined };
}

/** Builds an image in an empty folder and makes its files read-only. */
export const buildImage = async (
  work: string,
  args: Record<string, string>,
  target?: string,
): Promise<Image> => {
  const bin = join(work, 'bin');
  chmodSync(work, 0o755);
  mkdirSync(bin);
  // Every user can run it there, wherever the repository is.
  copyFileSync(process.execPath, join(bin, 'node'));
  writeFileSync(join(bin, 'pnpm'), '#!/bin/sh\nexec npx -y pnpm@10.34.9 "$@"\n', { mode: 0o755 });
  const PATH = [bin, join(root, 'node_modules/.bin'), inherited.PATH].join(':');
  const image = await build({
    dockerfile,
    args,
    work,
    env: { ...inherited, ...trusted, PATH, npm_config_prefer_offline: 'true' },
    ...(target !== undefined && { target }),
  });
  // As on a file system that is read only.
  spawnSync('chmod', ['-R', 'a-w', image.root]);
  return {
    ...image,
    program: ([name = '', ...rest], env) => {
      const cache = { NODE_COMPILE_CACHE: `${image.root}/repo/.compile-cache` };
      return {
        file: join(bin, name),
        args: rest,
        options: {
          cwd: join(image.root, image.folder),
          env: { PATH: bin, ...image.env, ...cache, PORT: '0', PROBE_PORT: '0', ...env },
          uid: image.user,
          gid: image.user,
        },
      };
    },
  };
};

/** Starts a program that logs the port that it listens on. */
export const startProgram = async ({ file, args, options }: Program) => {
  const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const { port, probePort } = await new Promise<{ port: number; probePort: number }>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`ended with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const listening = JSON.parse(line) as { msg?: string; port?: number; probePort?: number };
      if (listening.msg === 'listening')
        resolve({ port: listening.port ?? 0, probePort: listening.probePort ?? 0 });
    });
  });
  return {
    pid: child.pid,
    port,
    probePort,
    /** Exit code and signal. */
    stop: async () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
};
