import { join } from 'node:path';
import { findProgram, installHint } from '../system-programs.ts';
import { redisAnswers, redisCommand, redisUrl } from '../redis.ts';
import { temporaryFolder } from '../cleanup.ts';
import { freePort } from './free-ports.ts';
import { startServer, type Server } from './server.ts';

/**
 * Starts an empty Redis on a free port of 127.0.0.1. It ends with this process.
 * @throws if redis-server is not installed
 */
export const startRedis = async (): Promise<Server> => {
  const file = await findProgram('redis-server');
  if (!file) throw new Error(`redis-server is missing. ${installHint('redis-server')}`);
  const [folder, port] = await Promise.all([temporaryFolder(), freePort()]);
  const logFile = join(folder.path, 'redis.log');
  const url = redisUrl(port);
  return startServer({
    name: 'redis',
    url,
    command: redisCommand({ file, port, dataDir: folder.path, logFile }),
    isReady: () => redisAnswers(url),
    cleanUp: folder.remove,
  });
};
