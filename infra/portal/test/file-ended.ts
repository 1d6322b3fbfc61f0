import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, inject } from 'vitest';
import type {} from './stack.ts';

// A byte for each test file that has ended; test-setup.ts stops the platform after the last one.
afterAll(() => appendFile(join(inject('localFolder'), 'ended'), '.'));
