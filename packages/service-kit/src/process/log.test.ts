import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { createLog, writeLine } from './log.ts';

test.each(['process.exit(3)', "throw new Error('gone')"])(
  'a process that ends by %s loses no log line',
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

const linesOf = (write: (log: ReturnType<typeof createLog>) => void, fields?: () => object): string[] => {
  const lines: string[] = [];
  write(createLog('test', 'warn', { write: (line) => lines.push(line) }, fields));
  return lines.map((line) => line.replace(/"time":"[^"]+"/, '"time":""'));
};

test.each([undefined, () => ({ trace_id: 'a' })])(
  'a line without the formatter of pino is the same, byte for byte',
  (getFields) => {
    const fields = { requestId: 'a"b\n', method: 'GET', route: undefined, status: 500, ms: 3 };
    const lines = linesOf((log) => writeLine(log, 'error', fields, 'failed'), getFields);
    expect(lines).toEqual(linesOf((log) => log.error(fields, 'failed'), getFields));
    expect(lines).toHaveLength(1);
  },
);

test('a line below the level of the log is not written', () => {
  expect(linesOf((log) => writeLine(log, 'info', {}, 'answered'))).toEqual([]);
});
