import { isRunning, signal, until } from '../process.ts';
import { keepRunning, type Program, type RunningProgram } from '../supervisor.ts';

/** A server that a test started, ready for use. */
export interface Server {
  url: string;
  /** Changes when the server restarts. */
  readonly pid: number;
  /** Stops it and removes its files. */
  stop: () => Promise<void>;
  /** Kills it like a crash. Its data remain. */
  kill9: () => Promise<void>;
  /** Restarts it with the same port and data; stops it first if it is running. */
  restart: () => Promise<void>;
}

interface ServerPlan extends Omit<Program, 'stopLimitMs'> {
  url: string;
  /** Runs after the last stop. */
  cleanUp: () => Promise<void>;
}

const STOP_LIMIT_MS = 10_000;
const START_LIMIT_MS = 120_000;

/**
 * Starts a server and waits until it is ready. It is not restarted when it ends.
 * @throws with the last lines of its log if it does not become ready
 */
export const startServer = async ({ url, cleanUp, ...program }: ServerPlan): Promise<Server> => {
  const start = async (): Promise<{ running: RunningProgram; pid: number }> => {
    const running = keepRunning({ ...program, stopLimitMs: STOP_LIMIT_MS }, { backOff: false });
    await running.ready(START_LIMIT_MS);
    return { running, pid: running.id?.pid ?? 0 };
  };
  let current = await start();
  return {
    url,
    get pid() {
      return current.pid;
    },
    stop: async () => {
      await current.running.stop();
      await cleanUp();
    },
    kill9: async () => {
      const { id } = current.running;
      if (id === undefined) return;
      signal(id.pid, 'SIGKILL');
      await until(() => !isRunning(id), STOP_LIMIT_MS);
    },
    restart: async () => {
      await current.running.stop();
      current = await start();
    },
  };
};
