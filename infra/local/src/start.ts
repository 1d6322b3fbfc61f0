/** `pnpm start`: starts the platform, keeps it running, and stops it on Ctrl-C. See README.md. */
import { lockFolder, removeStack, writeStack } from './local-folder.ts';
import { readOptions, USAGE } from './options.ts';
import { print, printStep } from './print.ts';
import { createSupervisor } from './supervisor.ts';
import { stackSummary } from './stack-summary.ts';
import { watchServices } from './watch.ts';
import { bringUp, prepare, type RunningStack } from './bring-up.ts';

/** One Ctrl-C arrives twice, from the terminal and from pnpm; a signal within this time (ms) counts as the same key press. */
const SAME_PRESS_MS = 700;
const PARENT_CHECK_MS = 500;

/** Calls back when the parent process has ended: `npx` and `pnpm` may be killed without signalling their children. */
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
  if (stopped.length > 0)
    printStep(`stopped programs that an earlier start left running: ${stopped.join(', ')}`);

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
  let firstSignalAt = 0;
  const onStop = (reason: string): void => {
    if (!stopping.signal.aborted) {
      firstSignalAt = performance.now();
      print(`\n${reason}: stopping …`);
      stopping.abort();
    } else if (performance.now() - firstSignalAt > SAME_PRESS_MS) {
      print('Killing the remaining programs.');
      void supervisor.stop('now');
    }
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => onStop(name));
  onParentExit(() => onStop('the command that started this process has ended'));

  try {
    const started = Promise.withResolvers<void>();
    // Watch before the services load their code, so that no change is missed.
    if (options.watch)
      await watchServices(options, prepared.services, supervisor, stopping.signal, started.promise);
    stack = await bringUp(options, prepared, supervisor, stopping.signal);
    save();
    print(stackSummary(stack.describe(), stack.curls, path, stack.portal));
    printStep('everything is ready; Ctrl-C stops it');
    started.resolve();
    if (options.watch) print('Watching the code: a service restarts when it changes.');
    if (!stopping.signal.aborted)
      await new Promise((resolve) => stopping.signal.addEventListener('abort', resolve));
  } catch (error) {
    // While the stack stops, unfinished start steps fail; that is expected.
    if (!stopping.signal.aborted) throw error;
  } finally {
    stopping.abort();
    await removeStack(path);
    await supervisor.stop();
    await lock.release();
  }
  print('Stopped.');
};

try {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) print(USAGE);
  else await runStack(args);
  process.exitCode = 0;
} catch (error) {
  print(`\nThe platform did not start: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
