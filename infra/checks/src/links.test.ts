import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = new URL('../../..', import.meta.url).pathname;
const rooms = ['services', 'packages', 'infra'];

const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

const inFolder = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));

const readmes = rooms.flatMap((room) =>
  readdirSync(join(root, room))
    .map((name) => join(room, name, 'README.md'))
    .filter((path) => exists(join(root, path))),
);

test.each(['README.md', 'CONTRIBUTING.md', ...inFolder('docs'), ...readmes])(
  'every file that %s points to is there',
  (page) => {
    const text = readFileSync(join(root, page), 'utf8');
    const targets = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
    const local = targets.filter((target) => !/^[a-z]+:/.test(target));
    expect(local.filter((target) => !exists(join(root, dirname(page), target)))).toEqual([]);
  },
);
