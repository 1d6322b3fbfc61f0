/** `pnpm start`: brings the platform up, keeps it up, and takes it down again on Ctrl-C. See README.md. */
import { assembleCrew } from './crew.ts';
import { claimFolder } from './leftovers.ts';
import { readOptions } from './options.ts';
import { whenParentGoes } from './parent.ts';
import { latest } from './latest.ts';
import { say, step } from './say.ts';
import { removeStack, writeStack } from './stack-file.ts';
import { table } from './table.ts';
import { bringUp, gather, type Up } from './up.ts';

/** The terminal and pnpm both pass on one Ctrl-C; what comes this soon (ms) is no second one. */
const SAME_PRESS_MS = 700;

const keepUp = async (): Promise<void> => {
  const options = readOptions(process.argv.slice(2));
  const materials = await gather(options);
  const { path } = materials.local;
  const { claim, stopped } = await claimFolder(path);
  if (stopped.length > 0) step(`stopped what an earlier start left running: ${stopped.join(', ')}`);

  let up: Up | undefined;
  const save = latest(async () => {
    await claim.record(crew.running());
    if (up && !stopping.signal.aborted) await writeStack(path, up.describe());
  });
  const crew = assembleCrew(save.request);
  const stopping = new AbortController();
  let firstAt = 0;
  const onStop = (why: string): void => {
    if (!stopping.signal.aborted) {
      firstAt = performance.now();
      say(`\n${why}: stopping …`);
      stopping.abort();
    } else if (performance.now() - firstAt > SAME_PRESS_MS) {
      say('Killing what is left.');
      void crew.stop('now');
    }
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => onStop(name));
  whenParentGoes(() => onStop('the command that started this has gone'));

  try {
    up = await bringUp(options, materials, crew, stopping.signal);
    save.request();
    await save.done();
    say(table(up.describe(), up.curls, path, up.portal));
    step('everything is ready');
    if (!stopping.signal.aborted)
      await new Promise((resolve) => stopping.signal.addEventListener('abort', resolve));
  } catch (error) {
    // Once we are stopping, what was half started fails as it should.
    if (!stopping.signal.aborted) throw error;
  } finally {
    stopping.abort();
    await removeStack(path);
    await crew.stop();
    await save.done();
    await Promise.all([removeStack(path), claim.release()]);
  }
  say('Stopped.');
};

try {
  await keepUp();
  process.exitCode = 0;
} catch (error) {
  say(`\nThe platform did not start: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
