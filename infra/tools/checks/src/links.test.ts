import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { codeBlocks } from './testing/code-blocks.ts';

const root = new URL('../../../..', import.meta.url).pathname;
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const exists = (path: string): boolean => statSync(join(root, path), { throwIfNoEntry: false }) !== undefined;

const pagesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));

const rootPages = readdirSync(root).filter((name) => name.endsWith('.md'));
const readmes = ['services', 'packages', 'infra', 'infra/tools'].flatMap((folder) =>
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

const template = 'infra/tools/new/template/docs/placeholder-service.md';
const serviceGuides = readdirSync(join(root, 'services')).map((name) => `docs/${name}.md`);

test.each([...serviceGuides, 'docs/deploy.md', template])(
  '%s states its purpose, then has the sections First …, Daily use, Troubleshooting and Reference',
  (page) => {
    const [purpose = '', ...sections] = read(page).split('\n## ');
    expect(purpose.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).not.toEqual([]);
    const headings = sections.map((section) => section.split('\n')[0]);
    expect(headings).toEqual([expect.stringMatching(/^First /), 'Daily use', 'Troubleshooting', 'Reference']);
  },
);

test.each([...rootPages, ...pagesIn('docs'), ...readmes])(
  '%s runs no .ts file with the Node.js of the PATH',
  (page) => {
    // An older version fails with ERR_UNKNOWN_FILE_EXTENSION; `pnpm exec` and the images use the right one.
    const commands = read(page)
      .split('\n')
      .filter((line) => /\bnode [\w./-]+\.ts/.test(line));
    expect(commands.filter((line) => !/\bexec\b|in the same image/.test(line))).toEqual([]);
  },
);

test.each([...rootPages, ...pagesIn('docs'), ...readmes, template])(
  'a comment among the commands of %s is harmless when zsh runs it as a command',
  (page) => {
    // An interactive zsh has no comments: it expands their words, and waits for a closing quote.
    const commands = codeBlocks(read(page)).filter(({ language }) => language === 'sh');
    const comments = commands.flatMap(({ code }) => code.split('\n').filter((line) => /^\s*#/.test(line)));
    expect(comments.filter((line) => /['`*?[\](){}|&;<>!]/.test(line))).toEqual([]);
  },
);

test('no diagram in docs/ needs a program that draws it', () => {
  expect(pagesIn('docs').filter((page) => read(page).includes('```mermaid'))).toEqual([]);
});
