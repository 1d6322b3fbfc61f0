import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { findProgram } from './infra/local/src/system-programs.ts';
import { testLimits } from './infra/local/src/testing/vitest.ts';

/** What some packages need beyond what all have, by the name of their folder. */
const special: Record<string, TestProjectInlineConfiguration['test']> = {
  // recheck in JavaScript; its other backends are native programs that are not installed.
  checks: { env: { RECHECK_BACKEND: 'pure' } },
  // Its tests in `test` run nginx.
  gateway: (await findProgram('nginx')) === null ? { include: ['src/**/*.test.ts'] } : {},
  // Each test runs many tools one after the other.
  new: { testTimeout: 900_000 },
  portal: {
    globalSetup: [join(import.meta.dirname, 'infra/portal/test/test-setup.ts')],
    setupFiles: [join(import.meta.dirname, 'infra/portal/test/file-ended.ts')],
  },
};

const common = {
  include: ['{src,test}/**/*.test.ts'],
  // Test files of a project share the modules of their worker: loading them for each file takes a third of the time.
  isolate: false,
  // Tests wait for processes and databases most of their time, so one worker a core leaves the cores idle.
  maxWorkers: 2 * availableParallelism(),
  ...testLimits,
};

const manifests = globSync('{packages,services,infra,infra/tools}/*/package.json', {
  cwd: import.meta.dirname,
});
/** A project for each package that has tests. */
const projects = manifests.map((manifest) => {
  const root = join(import.meta.dirname, dirname(manifest));
  const name = basename(root);
  return { test: { name, root, ...common, ...special[name] } };
});

/** Projects with files that take longest and mostly wait: whole platforms, killed servers, installations. */
const LONGEST = ['e2e', 'portal', 'checks', 'new', 'store-webhooks', 'wallet-operator', 'deploy', 'local'];

/** Starts the longest files first, so that none of them is left running alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project }: TestSpecification): number => {
      const at = LONGEST.indexOf(project.name);
      return at < 0 ? LONGEST.length : at;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- not a method of an array
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    projects,
    // Once for all projects, whose tests get from it what it provides.
    globalSetup: ['infra/local/src/testing/setup.ts'],
    sequence: { sequencer: LongestFirst },
  },
});
