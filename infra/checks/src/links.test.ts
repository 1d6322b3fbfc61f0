import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = new URL('../../..', import.meta.url).pathname;
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const exists = (path: string): boolean => statSync(join(root, path), { throwIfNoEntry: false }) !== undefined;

const pagesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));

const rootPages = readdirSync(root).filter((name) => name.endsWith('.md'));
const readmes = ['services', 'packages', 'infra'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .map((name) => join(folder, name, 'README.md'))
    .filter(exists),
);

test.each([...rootPages, ...pagesIn('docs'), ...readmes])('every file that %s links to exists', (page) => {
  const targets = [...read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
  const local = targets.filter((target) => !/^[a-z]+:/.test(target));
  expect(local.filter((target) => !exists(join(dirname(page), target)))).toEqual([]);
});

test('the index of decisions lists every decision', () => {
  const files = readdirSync(join(root, 'docs/adr')).filter((name) => name !== 'README.md');
  const listed = [...read('docs/adr/README.md').matchAll(/\]\(([^)]+\.md)\)/g)].map(([, name = '']) => name);
  expect(files.length).toBeGreaterThan(30);
  expect(files.filter((name) => !/^\d{4}-[a-z0-9-]+\.md$/.test(name))).toEqual([]);
  expect(listed.toSorted()).toEqual(files.toSorted());
});
