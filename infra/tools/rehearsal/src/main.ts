import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runProgram } from '@platform/program';
import { runCrashTest } from '@platform/e2e/crash-test';
import { provideBaseImages } from './base-images.ts';
import {
  findFailingOperations,
  findPrivileges,
  findSecrets,
  rehearseSubset,
  rehearseTelemetry,
} from './checks.ts';
import { ROOT, stop, stopping } from './command.ts';
import { openEngine } from './engine.ts';
import { findWrongExitCodes, findImageFaults, findMissingPages, rehearseImages } from './images.ts';
import { rehearseMonitoring } from './monitoring.ts';
import { deploy } from './platform.ts';
import { rehearseRestore } from './restore.ts';
import { buildVersions, replaceVersions } from './rollout.ts';

const usage = `rehearse: builds the images, deploys them with compose as docs/deploy.md says, checks the containers, restores a backup,
replaces the services by their next versions, and kills and recreates all containers, while clients use the platform
  --local-base-images  builds stand-ins for the official images instead of pulling them
  --minutes N          how long containers are killed (0: each once)
It leaves only pulled images and the build cache, also after Ctrl-C.`;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
// After SIGHUP there is no terminal to write to.
process.stdout.on('error', () => undefined);

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => stop(`stopped by ${signal}`));

/** Runs a step and prints how long it took. */
const step = async <T>(title: string, work: () => Promise<T>): Promise<T> => {
  stopping.throwIfAborted();
  const start = performance.now();
  const result = await work();
  print(`${((performance.now() - start) / 1_000).toFixed(1).padStart(7)} s  ${title}`);
  return result;
};

const rehearse = async ({ useStandIns, minutes }: { useStandIns: boolean; minutes: number }) => {
  const services = await readdir(join(ROOT, 'services'));
  await using engine = await step('the engine answers', openEngine);
  await using images = await step('base images', () => provideBaseImages(engine, { useStandIns }));
  print(`base images are ${images.kind}`);
  await using platform = await step('images built and platform up', () => deploy(engine, services));
  const faults: string[] = [];
  const check = async (title: string, work: () => Promise<string[]>): Promise<void> =>
    void faults.push(...(await step(title, work)));
  await check('rights of the containers', () => findPrivileges(engine, platform));
  await check('secrets in descriptions', () => findSecrets(engine, platform));
  await check('labels, users, files and SBOMs of the images', () => findImageFaults(engine, platform));
  await check('pages of the portal', () => findMissingPages(platform));
  await check('services stopped and started', () => findWrongExitCodes(engine, platform));
  await check('gateway and its telemetry killed', () => rehearseTelemetry(engine, platform));
  // Alerts wait for minutes. Neither step needs the other.
  const parallel = await Promise.allSettled([
    check('all images built as deploy.md says', () => rehearseImages(engine, platform)),
    step('alert of the frozen gateway received', () => rehearseMonitoring(engine, platform)),
  ]);
  for (const result of parallel) if (result.status === 'rejected') throw result.reason;
  await check('every operation called', () => findFailingOperations(platform));
  await step('images of the next versions', () => buildVersions(engine, platform));
  await check('backup, migrations in the wrong order, restore', () => rehearseRestore(engine, platform));
  await check('every service replaced by its next version', () => replaceVersions(engine, platform));
  const { results, faults: crashFaults } = await step(
    'every container killed and recreated, then down and up',
    () => runCrashTest(platform, minutes),
  );
  for (const [name, { steps, interrupted }] of Object.entries(results)) {
    print(`${name}: ${steps} steps, ${interrupted} interrupted`);
    if (steps === 0) faults.push(`${name} completed no step`);
  }
  await step('proof of the ledger, check of the page directories', () =>
    platform.runDocumented('backup.md', 'Check'),
  );
  await check('two services deployed alone', () => rehearseSubset(platform.access.gateway, platform));
  return [...faults, ...crashFaults];
};

await runProgram(usage, async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      'local-base-images': { type: 'boolean', default: false },
      minutes: { type: 'string', default: '0' },
    },
  });
  const options = { useStandIns: values['local-base-images'], minutes: Number(values.minutes) };
  const faults = await step('total', () => rehearse(options));
  for (const fault of faults) print(`  ${fault}`);
  print(faults.length === 0 ? 'The rehearsal succeeded.' : `${faults.length} faults`);
  return faults.length === 0 ? 0 : 1;
});
