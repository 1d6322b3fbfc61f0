import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (char) => entities[char] ?? char);

/** Reverses `escape`. */
export const unescape = (markup: string): string =>
  Object.entries(entities).reduceRight((text, [char, entity]) => text.replaceAll(entity, char), markup);

/** Escaped markup, which can be inserted into other markup. */
export interface Markup {
  readonly markup: string;
}

type Value = Markup | string | readonly Markup[];

const render = (value: Value): string => {
  if (typeof value === 'string') return escape(value);
  return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('\n');
};

/** Builds markup from a template. Strings are escaped, also for attributes in double quotes. */
export const html = (texts: TemplateStringsArray, ...values: Value[]): Markup => ({
  markup: texts.map((text, index) => (index === 0 ? text : render(values[index - 1] ?? '') + text)).join(''),
});

const folder = join(import.meta.dirname, 'pages');

/**
 * Reads a file of pages/ and replaces each name in two braces, such as `{{title}}`, like a value in `html`.
 * @throws if a value is missing
 */
export const fillTemplate = (file: string, values: Readonly<Record<string, Value>> = {}): Markup => ({
  markup: readFileSync(join(folder, `${file}.html`), 'utf8').replaceAll(
    /\{\{(\w+)\}\}/g,
    (_, name: string) => {
      const value = values[name];
      if (value === undefined) throw new Error(`${file}.html needs a value for ${name}`);
      return render(value);
    },
  ),
});
