import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, inject } from 'vitest';
import type {} from './stack.ts';

// Appends a byte for each finished test file; test-setup.ts stops the platform after the last one.
afterAll(() => appendFile(join(inject('localFolder'), 'ended'), '.'));
