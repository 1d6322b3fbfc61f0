import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const withoutSpace = (code: string): string => code.replaceAll(/\s+|,(?=\s*[)\]}])/g, '');

test('every example of README.md is compiled as part of examples.ts', () => {
  const examples = withoutSpace(read('examples.ts'));
  const blocks = [...read('../README.md').matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code);
  expect(blocks.length).toBeGreaterThan(5);
  for (const code of blocks) expect(examples).toContain(withoutSpace(code.replaceAll(/^import .*\n/gm, '')));
});
