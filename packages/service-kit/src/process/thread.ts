import { setFlagsFromString } from 'node:v8';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** Starts a program in a thread with a heap of at most `maxOldGenerationSizeMb` MiB. */
export const startThread = (program: URL, maxOldGenerationSizeMb: number, options: WorkerOptions): Worker => {
  // Options of the process would win over `resourceLimits`; its own heap has its size by now.
  for (const option of ['max-semi-space-size', 'max-old-space-size']) setFlagsFromString(`--${option}=0`);
  const resourceLimits = { maxOldGenerationSizeMb, maxYoungGenerationSizeMb: 8 };
  // What the process was told to import is not imported again.
  return new Worker(program, { ...options, resourceLimits, execArgv: [] });
};
