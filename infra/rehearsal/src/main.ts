/**
 * `pnpm rehearse`: builds the images, deploys them with compose as docs/deploy.md says, checks the containers, replaces them by
 * a next version, and kills and recreates them while clients use the platform. Leaves nothing behind. With --local-base-images it builds stand-ins for
 * the official images instead of pulling them.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { liveThrough } from '@platform/e2e/day';
import { provideBaseImages } from './base-images.ts';
import { findPrivileges, findSecrets } from './checks.ts';
import { ROOT } from './command.ts';
import { openEngine } from './engine.ts';
import { deploy } from './platform.ts';
import { replaceVersions } from './rollout.ts';

const { values } = parseArgs({
  options: {
    'local-base-images': { type: 'boolean', default: false },
    minutes: { type: 'string', default: '0' },
  },
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs a step and prints how long it took. */
const step = async <T>(title: string, work: () => Promise<T>): Promise<T> => {
  const start = performance.now();
  const result = await work();
  say(`${((performance.now() - start) / 1_000).toFixed(1).padStart(7)} s  ${title}`);
  return result;
};

const rehearse = async (): Promise<string[]> => {
  const services = await readdir(join(ROOT, 'services'));
  await using engine = await step('the engine answers', openEngine);
  const local = values['local-base-images'];
  await step('base images', async () => say(await provideBaseImages(engine, local)));
  await using platform = await step('images built and platform up', () => deploy(engine, services));
  const faults = await step('rights of the containers', () => findPrivileges(engine, platform));
  faults.push(...(await step('secrets in descriptions', () => findSecrets(engine, platform))));
  faults.push(
    ...(await step('every service replaced by its next version', () => replaceVersions(engine, platform))),
  );
  const day = await step('every container killed and recreated, then down and up', () =>
    liveThrough(platform, Number(values.minutes), () => {}),
  );
  for (const [name, { steps, interrupted }] of Object.entries(day.results)) {
    say(`${name}: ${steps} steps, ${interrupted} interrupted`);
    if (steps === 0) faults.push(`${name} could do nothing`);
  }
  return [...faults, ...day.faults];
};

const faults = await step('in all', rehearse);
for (const fault of faults) say(`  ${fault}`);
say(faults.length === 0 ? 'The rehearsal succeeded.' : `${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;
