import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

test.each(['process.exit(3)', "throw new Error('gone')"])(
  'nothing is lost by a process that ends by %s',
  (end) => {
    const script = `
      import { createLog } from '${new URL('./log.ts', import.meta.url).href}';
      createLog('test', 'info').info('last words');
      ${end};`;
    let written = '';
    try {
      execFileSync(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
    } catch (error) {
      written = String((error as { stdout: Buffer }).stdout);
    }
    expect(JSON.parse(written)).toMatchObject({ level: 'info', service: 'test', msg: 'last words' });
  },
);
