import { spawnSync } from 'node:child_process';
import { readFileSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { folderWith, root, tsconfig } from './testing/folder.ts';

/** Files of a service, most of which break a rule. */
const files = {
  'src/tasks/domain.ts': "import { save } from './queries.ts';\nexport const decide = save;\n",
  'src/tasks/queries.ts': `import { complete } from './use-cases.ts';
import { find } from '../users/queries.ts';
export const save = [complete, find];
`,
  'src/tasks/routes.ts': "import { save } from './queries.ts';\nexport const taskRoutes = save;\n",
  'src/tasks/schema.ts': "import { save } from './queries.ts';\nexport const Task = save;\n",
  'src/tasks/use-cases.ts':
    "import { taskRoutes } from './routes.ts';\nexport const complete = taskRoutes;\n",
  'src/users/import.ts': "import { save } from '../tasks/queries.ts';\nexport const importUsers = save;\n",
  'src/users/queries.ts': "export const find = 'a row';\n",
  'src/users/use-cases.ts': "import { save } from '../tasks/queries.ts';\nexport const rename = save;\n",
  'src/cycle-a.ts': "import type { B } from './cycle-b.ts';\nexport interface A {\n  b: B;\n}\n",
  'src/cycle-b.ts': "import type { A } from './cycle-a.ts';\nexport interface B {\n  a: A;\n}\n",
  'src/floating.ts': `const later = async (): Promise<void> => {};
const lazily = (): PromiseLike<void> => Promise.resolve();
export const forget = (): void => {
  later();
  lazily();
};
`,
  'src/settings.ts': "export const url = process.env['DATABASE_URL'];\n",
  'src/noise.ts': "export const shout = (): void => console.log('hello');\n",
  'src/anything.ts': 'export const anything: any = 1;\n',
  'src/default.ts': 'export default 1;\n',
  'src/long.ts': `export const rows = [\n${'  1,\n'.repeat(249)}];\n`,
  'src/list.tsx': "export const list = ['one'].map((name) => <li>{name}</li>);\n",
  'src/picture.tsx': 'export const picture = <img src="chart.png" />;\n',
};

interface Report {
  diagnostics: { code: string; filename: string }[];
}

let report: Report;

/** Runs oxlint with the repository's configuration. */
beforeAll(() => {
  const config = JSON.parse(readFileSync(join(root, '.oxlintrc.json'), 'utf8')) as Record<string, unknown>;
  const rules = JSON.stringify({ ...config, $schema: undefined, ignorePatterns: [] });
  using folder = folderWith({ ...files, 'tsconfig.json': tsconfig, 'rules.json': rules });
  const { stdout } = spawnSync(
    join(root, 'node_modules/.bin/oxlint'),
    ['-c', 'rules.json', '-f', 'json', '.'],
    { cwd: folder.path, encoding: 'utf8' },
  );
  report = JSON.parse(stdout) as Report;
});

test.each([
  ['src/tasks/domain.ts', 'eslint(no-restricted-imports)', 'a domain function imports queries'],
  ['src/tasks/queries.ts', 'eslint(no-restricted-imports)', 'queries import a use case'],
  ['src/tasks/use-cases.ts', 'eslint(no-restricted-imports)', 'a use case imports routes'],
  ['src/tasks/schema.ts', 'eslint(no-restricted-imports)', 'a schema imports queries'],
  ['src/tasks/routes.ts', 'eslint(no-restricted-imports)', 'routes import queries'],
  ['src/users/use-cases.ts', 'eslint(no-restricted-imports)', "a resource reads another resource's queries"],
  ['src/users/import.ts', 'eslint(no-restricted-imports)', "any other file reads another resource's queries"],
  ['src/cycle-a.ts', 'import(no-cycle)', 'two files import each other, even if only types'],
  ['src/floating.ts', 'typescript(no-floating-promises)', 'a promise is not awaited'],
  ['src/settings.ts', 'node(no-process-env)', 'the environment is read outside env.ts'],
  ['src/noise.ts', 'eslint(no-console)', 'a program prints without the log'],
  ['src/anything.ts', 'typescript(no-explicit-any)', 'a type is any'],
  ['src/default.ts', 'import(no-default-export)', 'an export is a default export'],
  ['src/long.ts', 'eslint(max-lines)', 'a file has 251 lines'],
  ['src/list.tsx', 'react(jsx-key)', 'an element of a list has no key'],
  ['src/picture.tsx', 'jsx-a11y(alt-text)', 'a picture has no text'],
])('%s breaks %s: %s', (file, rule) => {
  const rules = report.diagnostics.filter(({ filename }) => filename.endsWith(file)).map(({ code }) => code);
  expect(rules).toContain(rule);
});

test('a PromiseLike that is not awaited counts as floating, too', () => {
  const floating = report.diagnostics.filter(({ code }) => code === 'typescript(no-floating-promises)');
  expect(floating).toHaveLength(2);
});

/** For each compiler option, code that it rejects, and the error code. */
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

let typeReport: Report;

beforeAll(() => {
  const refusedFiles = Object.entries(refused).map(([option, [, code]]) => [`src/${option}.ts`, code]);
  const shape = "export type Shape = 'round';";
  using folder = folderWith({
    'package.json': '{ "type": "module" }',
    'tsconfig.json': tsconfig,
    'src/shape.ts': shape,
    ...Object.fromEntries(refusedFiles),
  });
  const args = ['--type-aware', '--type-check', '--format=json'];
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/oxlint'), args, {
    cwd: folder.path,
    encoding: 'utf8',
  });
  typeReport = JSON.parse(stdout) as Report;
});

test.each(Object.entries(refused))('%s refuses %j', (option, [error]) => {
  const errors = typeReport.diagnostics.filter(({ filename }) => filename.endsWith(`src/${option}.ts`));
  expect(errors.map(({ code }) => code)).toContain(`typescript(${error})`);
});

/** The places in source files that use the temporary folder. */
const usesOf = (paths: readonly string[]): string[] =>
  paths.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        /\btmpdir\(|\bTMPDIR\b|['"`]\/tmp\b/.test(line) ? [`${file}:${index + 1}`] : [],
      ),
  );

test('a use of the temporary folder is found', () => {
  const fixture = 'infra/tools/checks/fixtures/temporary-folder.ts';
  expect(usesOf([fixture])).toEqual([`${fixture}:3`]);
});

test('no service uses the temporary folder: the containers have a read-only file system', () => {
  const sources = globSync('{services/*,packages/*,infra/gateway-telemetry}/src/**/*.ts', {
    cwd: root,
    exclude: ['**/*.test.ts', '**/testing/**', '**/node_modules/**'],
  });
  expect(sources.length).toBeGreaterThan(200);
  expect(usesOf(sources)).toEqual([]);
});
