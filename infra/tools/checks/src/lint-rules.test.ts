import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
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
  ['src/list.tsx', 'react(jsx-key)', 'an element of a list has no key'],
  ['src/picture.tsx', 'jsx-a11y(alt-text)', 'a picture has no text'],
])('%s breaks %s: %s', (file, rule) => {
  const broken = report.diagnostics.filter(({ filename }) => filename.endsWith(file)).map(({ code }) => code);
  expect(broken).toContain(rule);
});

test('a PromiseLike without catch counts as floating, too', () => {
  const floating = report.diagnostics.filter(({ code }) => code === 'typescript(no-floating-promises)');
  expect(floating).toHaveLength(2);
});
