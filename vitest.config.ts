import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: ['packages/*', 'services/*', 'infra/*'],
    // vitest leaves one core to itself by default; on two cores that is one worker, which waits most of its time.
    maxWorkers: availableParallelism(),
  },
});
