import { createConnection } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Command } from './spawn.ts';
import { baseEnv } from './env.ts';

/** How to run one Redis server. */
export interface RedisPlan {
  file: string;
  port: number;
  /** Folder of its snapshots. */
  dataDir: string;
  logFile: string;
  /** File with further settings such as the password: every user of the machine can see the arguments of a process. */
  configFile?: string;
}

export const redisUrl = (port: number, password?: string): string =>
  `redis://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}`;

/** Redis stores only data that may be lost: it writes snapshots, and evicts the least recently used keys when full. */
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

/** Resolves true if the server responds to PING with the password of the URL; false if it does not (yet). */
export const redisAnswers = async (url: string): Promise<boolean> => {
  const { port, password } = new URL(url);
  const socket = createConnection({ host: '127.0.0.1', port: Number(port), timeout: 2_000 });
  socket.once('timeout', () => socket.destroy(new Error('no answer')));
  // After QUIT the server closes the connection, which ends the response text.
  socket.write(`${password && `AUTH ${password}\r\n`}PING\r\nQUIT\r\n`);
  return text(socket).then(
    (response) => response.includes('+PONG'),
    () => false,
  );
};
