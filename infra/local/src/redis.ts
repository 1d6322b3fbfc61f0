import { createConnection } from 'node:net';
import { text } from 'node:stream/consumers';
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
export const redisAnswers = async (url: string): Promise<boolean> => {
  const { port, password } = new URL(url);
  const socket = createConnection({ host: '127.0.0.1', port: Number(port), timeout: 2_000 });
  socket.once('timeout', () => socket.destroy(new Error('no answer')));
  // After QUIT the server closes the connection, which ends the text of its answers.
  socket.write(`${password && `AUTH ${password}\r\n`}PING\r\nQUIT\r\n`);
  return text(socket).then(
    (answers) => answers.includes('+PONG'),
    () => false,
  );
};
