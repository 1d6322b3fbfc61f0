import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { launch, type Command, type Launched } from './command.ts';
import { signal, stop, until, isRunning } from './process-table.ts';
import { lastOf } from './text.ts';

/** A program that this process started for itself, ready for use. */
export interface Server {
  url: string;
  /** Changes with a restart. */
  readonly pid: number;
  /** Ends it in good order and removes its files. */
  stop: () => Promise<void>;
  /** Ends it as a crash would. Its data stay. */
  kill9: () => Promise<void>;
  /** Starts it again on the same port and data, after stopping it when it still runs. */
  restart: () => Promise<void>;
}

/** What differs between one kind of server and another. */
export interface ServerPlan {
  url: string;
  command: Command;
  answers: (url: string) => Promise<boolean>;
  /** Runs before each start. */
  prepare?: () => Promise<void>;
  /** Runs after the last stop. */
  cleanUp: () => Promise<void>;
}

const STOP_LIMIT_MS = 10_000;
const START_LIMIT_MS = 30_000;

/**
 * Waits until the program answers.
 * @throws with the end of its log when it ends first, or when the limit passes
 */
export const untilReady = async (
  launched: Launched,
  asked: () => Promise<boolean>,
  logFile: string,
  limitMs: number,
): Promise<void> => {
  const end = Date.now() + limitMs;
  let ended: string | undefined;
  void launched.ended.then((how) => (ended = how));
  while (!(await asked())) {
    if (ended === undefined && Date.now() < end) await sleep(30);
    else throw new Error(`${ended ?? `not ready after ${limitMs / 1_000} s`}\n${await lastLines(logFile)}`);
  }
};

/** The last lines of a log file. */
export const lastLines = async (logFile: string, count = 20): Promise<string> =>
  lastOf(await readFile(logFile, 'utf8').catch(() => '(there is no log)'), count);

/**
 * Starts a server and waits until it answers.
 * @throws with the end of its log when it does not come up
 */
export const startServer = async (plan: ServerPlan): Promise<Server> => {
  const { url, command, answers, prepare, cleanUp } = plan;
  const start = async (): Promise<Launched> => {
    await prepare?.();
    const launched = await launch(command);
    await untilReady(launched, () => answers(url), command.logFile, START_LIMIT_MS);
    return launched;
  };
  const halt = (): Promise<void> => stop(launched.id, command.stopSignal, STOP_LIMIT_MS);

  let launched = await start();
  return {
    url,
    get pid() {
      return launched.id.pid;
    },
    stop: async () => {
      await halt();
      await cleanUp();
    },
    kill9: async () => {
      signal(launched.id.pid, 'SIGKILL');
      await until(() => !isRunning(launched.id), STOP_LIMIT_MS);
    },
    restart: async () => {
      await halt();
      launched = await start();
    },
  };
};
