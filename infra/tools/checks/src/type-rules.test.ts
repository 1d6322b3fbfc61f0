import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { folderWith, root, tsconfig } from './testing/folder.ts';

/** Code that each option refuses, and the error that it then has. */
const refused: Record<string, [error: string, code: string]> = {
  strict: ['TS7006', 'export const length = (text) => text.length;'],
  noUncheckedIndexedAccess: ['TS2322', 'const names: string[] = []; export const first: string = names[0];'],
  exactOptionalPropertyTypes: ['TS2375', 'export const options: { limit?: number } = { limit: undefined };'],
  verbatimModuleSyntax: [
    'TS1484',
    "import { Shape } from './shape.ts'; export const paint = (colour: Shape): Shape => colour;",
  ],
  erasableSyntaxOnly: ['TS1294', 'export enum Colour { Red }'],
  noImplicitOverride: [
    'TS4114',
    "class Base { name = ''; } export class Derived extends Base { name = 'derived'; }",
  ],
  noFallthroughCasesInSwitch: [
    'TS7029',
    'export const describe = (value: number): void => { switch (value) { case 1: describe(2); default: } };',
  ],
};

interface Report {
  diagnostics: { code: string; filename: string }[];
}

let report: Report;
beforeAll(() => {
  const files = Object.entries(refused).map(([option, [, code]]) => [`src/${option}.ts`, code]);
  const shape = "export type Shape = 'round';";
  using folder = folderWith({
    'package.json': '{ "type": "module" }',
    'tsconfig.json': tsconfig,
    'src/shape.ts': shape,
    ...Object.fromEntries(files),
  });
  const args = ['--type-aware', '--type-check', '--format=json'];
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/oxlint'), args, {
    cwd: folder.path,
    encoding: 'utf8',
  });
  report = JSON.parse(stdout) as Report;
});

test.each(Object.entries(refused))('%s refuses %j', (option, [error]) => {
  const errors = report.diagnostics.filter(({ filename }) => filename.endsWith(`src/${option}.ts`));
  expect(errors.map(({ code }) => code)).toContain(`typescript(${error})`);
});
