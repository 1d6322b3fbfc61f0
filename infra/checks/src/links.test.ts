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

test('the index of decisions lists every decision with its title', () => {
  const files = readdirSync(join(root, 'docs/adr')).filter((name) => /^\d{4}-[a-z0-9-]+\.md$/.test(name));
  expect(files.length).toBeGreaterThan(30);
  const lines = files.map((name) => `[${read(`docs/adr/${name}`).split('\n', 1).join().slice(2)}](${name})`);
  const listed = [...read('docs/adr/README.md').matchAll(/\[\d+\. [^\]]+\]\([^)]+\)/g)].map(([link]) => link);
  expect(listed).toEqual(
    lines.toSorted((a, b) => (a.split('](')[1] ?? '').localeCompare(b.split('](')[1] ?? '')),
  );
});
