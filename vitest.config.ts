import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';

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
    projects: ['packages/*', 'services/*', 'infra/!(tools)', 'infra/tools/*'],
    sequence: { sequencer: LongestFirst },
  },
});
