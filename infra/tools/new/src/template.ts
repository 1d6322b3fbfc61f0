import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readServices } from '@platform/service-list/read';
import { camelOf, pascalOf, snakeOf, titleOf, wordsOf, type NewService } from './name.ts';

const template = join(import.meta.dirname, '../template');

/** How a resource is written in paths, SQL, code and text. */
const spellings = [(words: string) => words, snakeOf, camelOf, pascalOf, wordsOf, titleOf];

const replaceResource = (text: string, placeholder: string, resource: string): string =>
  spellings.reduce((all, spell) => all.replaceAll(spell(placeholder), spell(resource)), text);

/** Higher ones are those of probes, PostgreSQL and Redis. */
const highestPort = 10;

/** The lowest port that no service in the list has. @throws when all are in use */
const freePort = (list: string): number => {
  const taken = new Set(readServices(list).map(({ port }) => port));
  for (let port = 1; port <= highestPort; port += 1) if (!taken.has(port)) return port;
  throw new Error(`All ports from 1 to ${highestPort} are in use.`);
};

/**
 * Copies the template to `root` and replaces the placeholders by the names and a free port. The template has the layout of
 * the repository; its services.yaml is an entry, which is added to the list. Fails when another file exists.
 */
export const copyTemplate = (root: string, { name, plural, singular }: NewService): void => {
  const list = join(root, 'services.yaml');
  const port = freePort(list);
  const named = (text: string): string =>
    replaceResource(replaceResource(text, 'spare-parts', plural), 'spare-part', singular)
      .replaceAll('placeholder-service', name)
      .replaceAll('Placeholder service', titleOf(name))
      .replaceAll('port: 0', `port: ${port}`);
  for (const entry of readdirSync(template, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const source = join(entry.parentPath, entry.name);
    const target = join(root, named(source.slice(template.length)));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, named(readFileSync(source, 'utf8')), { flag: target === list ? 'a' : 'wx' });
  }
};
