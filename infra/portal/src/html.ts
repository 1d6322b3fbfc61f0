import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (one) => names[one] ?? one);

/** The text that was escaped. */
export const unescape = (markup: string): string =>
  Object.entries(names).reduceRight((text, [letter, escaped]) => text.replaceAll(escaped, letter), markup);

/** Escaped markup, which can be part of other markup. */
export interface Markup {
  readonly markup: string;
}

type Part = Markup | string | readonly Markup[];

const shown = (part: Part): string => {
  if (typeof part === 'string') return escape(part);
  return 'markup' in part ? part.markup : part.map(({ markup }) => markup).join('\n');
};

/** Builds markup from a template. Strings are escaped, also for attributes in double quotes. */
export const html = (texts: TemplateStringsArray, ...parts: Part[]): Markup => ({
  markup: texts.map((text, index) => (index === 0 ? text : shown(parts[index - 1] ?? '') + text)).join(''),
});

const folder = join(import.meta.dirname, 'pages');

/**
 * A file of pages/, with each name in two braces, such as `{{title}}`, replaced like a part of `html`.
 * @throws when a part is missing
 */
export const fill = (file: string, parts: Readonly<Record<string, Part>> = {}): Markup => ({
  markup: readFileSync(join(folder, `${file}.html`), 'utf8').replaceAll(
    /\{\{(\w+)\}\}/g,
    (_, name: string) => {
      const part = parts[name];
      if (part === undefined) throw new Error(`${file}.html needs ${name}`);
      return shown(part);
    },
  ),
});
