import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { camelOf, pascalOf, snakeOf, titleOf, wordsOf, type NewService } from './name.ts';

const template = join(import.meta.dirname, '../template');

/** How a resource is written in paths, SQL, code and text. */
const spellings = [(words: string) => words, snakeOf, camelOf, pascalOf, wordsOf, titleOf];

const replaceResource = (text: string, placeholder: string, resource: string): string =>
  spellings.reduce((all, spell) => all.replaceAll(spell(placeholder), spell(resource)), text);

/**
 * Copies the template to `root` and replaces the placeholders by the names and the port. The template has the layout of
 * the repository. Fails when a file exists.
 */
export const copyTemplate = (root: string, { name, plural, singular }: NewService, port: number): void => {
  const named = (text: string): string =>
    replaceResource(replaceResource(text, 'spare-parts', plural), 'spare-part', singular)
      .replaceAll('placeholder-service', name)
      .replaceAll('Placeholder service', titleOf(name))
      .replaceAll('"port": 0', `"port": ${port}`);
  for (const entry of readdirSync(template, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const source = join(entry.parentPath, entry.name);
    const target = join(root, named(source.slice(template.length)));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, named(readFileSync(source, 'utf8')), { flag: 'wx' });
  }
};
