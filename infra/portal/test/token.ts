import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';

const script = join(import.meta.dirname, '../../local/src/token.ts');

/** An access token of the running platform with these scopes only, separated by spaces. */
export const tokenWith = async (scope: string): Promise<string> => {
  const args = [script, '--scope', scope, '--local', inject('localFolder')];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout.trim();
};
