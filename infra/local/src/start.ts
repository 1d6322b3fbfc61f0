/** `pnpm start`: starts the platform, keeps it running, and stops it on Ctrl-C. See README.md. */
import { lockFolder, removeStack, writeStack } from './local-folder.ts';
import { readOptions, USAGE } from './options.ts';
import { say, step } from './say.ts';
import { createSupervisor } from './program.ts';
import { table } from './table.ts';
import { watchServices } from './watch.ts';
import { bringUp, prepare, type RunningStack } from './up.ts';

/** One Ctrl-C arrives twice, from the terminal and from pnpm; a signal this soon (ms) after the first is not a second one. */
const SAME_PRESS_MS = 700;
const PARENT_CHECK_MS = 500;

/** Calls back when the parent process is gone: `npx` and `pnpm` may be killed without telling their children. */
const onParentExit = (callback: () => void): void => {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, PARENT_CHECK_MS);
  timer.unref();
};

const runStack = async (args: string[]): Promise<void> => {
  const options = readOptions(args);
  const prepared = await prepare(options);
  const { path } = prepared.local;
  const { lock, stopped } = await lockFolder(path);
  if (stopped.length > 0) step(`stopped what an earlier start left running: ${stopped.join(', ')}`);

  let stack: RunningStack | undefined;
  const save = (): void => {
    if (stopping.signal.aborted) return;
    try {
      lock.record(supervisor.running());
      if (stack) writeStack(path, stack.describe());
    } catch (error) {
      onStop(`${path} cannot be written (${error instanceof Error ? error.message : String(error)})`);
    }
  };
  const supervisor = createSupervisor(save);
  const stopping = new AbortController();
  let firstAt = 0;
  const onStop = (reason: string): void => {
    if (!stopping.signal.aborted) {
      firstAt = performance.now();
      say(`\n${reason}: stopping …`);
      stopping.abort();
    } else if (performance.now() - firstAt > SAME_PRESS_MS) {
      say('Killing what is left.');
      void supervisor.stop('now');
    }
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => onStop(name));
  onParentExit(() => onStop('the command that started this process has ended'));

  try {
    const started = Promise.withResolvers<void>();
    // Before the services load their code, so that no change is missed.
    if (options.watch)
      await watchServices(options, prepared.services, supervisor, stopping.signal, started.promise);
    stack = await bringUp(options, prepared, supervisor, stopping.signal);
    save();
    say(table(stack.describe(), stack.curls, path, stack.portal));
    step('everything is ready; Ctrl-C stops all of it');
    started.resolve();
    if (options.watch) say('Watching the code: a service restarts when it changes.');
    if (!stopping.signal.aborted)
      await new Promise((resolve) => stopping.signal.addEventListener('abort', resolve));
  } catch (error) {
    // While stopping, the steps that are not finished fail, as they should.
    if (!stopping.signal.aborted) throw error;
  } finally {
    stopping.abort();
    await removeStack(path);
    await supervisor.stop();
    await lock.release();
  }
  say('Stopped.');
};

try {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) say(USAGE);
  else await runStack(args);
  process.exitCode = 0;
} catch (error) {
  say(`\nThe platform did not start: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
