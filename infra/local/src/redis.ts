import { createConnection } from 'node:net';
import type { Command } from './spawn.ts';
import { baseEnv } from './env.ts';

/** One Redis server. */
export interface RedisPlan {
  file: string;
  port: number;
  /** Its snapshots are kept here. */
  dataDir: string;
  logFile: string;
  /** File with further settings; passwords are there, as everybody on the machine sees the arguments of a process. */
  configFile?: string;
}

export const redisUrl = (port: number, password?: string): string =>
  `redis://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}`;

/** Redis holds only what may be lost: it writes snapshots, and when it is full it evicts the least recently used keys. */
export const redisCommand = ({ file, port, dataDir, logFile, configFile }: RedisPlan): Command => ({
  file,
  args: [
    configFile === undefined ? [] : [configFile],
    ['--bind', '127.0.0.1'],
    ['--port', String(port)],
    ['--dir', dataDir],
    ['--appendonly', 'no'],
    ['--save', '300', '1'],
    ['--maxmemory', '256mb'],
    ['--maxmemory-policy', 'volatile-lru'],
    ['--daemonize', 'no'],
  ].flat(),
  cwd: dataDir,
  env: baseEnv(),
  stopSignal: 'SIGTERM',
  logFile,
});

/** Resolves true when the server answers PING, with the password of the URL; false when it does not (yet). */
export const redisAnswers = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({
      host: '127.0.0.1',
      port: Number(new URL(url).port),
      timeout: 2_000,
    });
    const finish = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    const { password } = new URL(url);
    socket.once('connect', () => socket.write(`${password && `AUTH ${password}\r\n`}PING\r\n`));
    let answer = '';
    socket.on('data', (data) => {
      answer += data.toString();
      // One line for each command.
      if (answer.split('\r\n').length > (password ? 2 : 1)) finish(answer.includes('+PONG'));
    });
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
    socket.once('timeout', () => finish(false));
  });
