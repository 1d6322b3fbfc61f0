import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { html, unescape, type Markup } from './html.ts';

/** Id of a heading, the same as on GitHub, for which the links in docs/ are written. */
const headingId = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

const docs = resolve(import.meta.dirname, '../../../docs');

/** A file of docs/ as a page. */
export interface Guide {
  /** Path below docs/ without `.md`, such as `adr/0001-node-and-pnpm`. */
  name: string;
  /** Its address in the portal. */
  address: string;
  title: string;
  body: Markup;
  sections: Section[];
  /** Its headings of the second and third level. */
  contents: { heading: string; id: string; depth: number }[];
}

/** A heading of a guide and the text below it. The id of the title is empty. */
interface Section {
  heading: string;
  id: string;
  text: string;
}

/** Whether a guide is a decision (ADR). */
export const isDecision = (name: string): boolean => name.startsWith('adr/');

/** The address of a guide in the portal. */
export const addressOf = (name: string): string => `/docs/guides/${name}/`;

/**
 * Converts a link of a guide to its address in the portal. External addresses stay unchanged. Undefined for files outside
 * docs/, which the portal does not contain.
 */
const portalAddress = (href: string, folder: string): string | undefined => {
  if (/^(?:https?:|#)/.test(href)) return href;
  const [path = '', heading] = href.split('#');
  const name = join(folder, path);
  if (name.startsWith('..') || !name.endsWith('.md')) return undefined;
  const address = name.endsWith('/README.md') ? '/docs/guides/' : addressOf(name.slice(0, -'.md'.length));
  return heading === undefined ? address : `${address}#${heading}`;
};

/** Whether markup is only a comment. */
const isComment = (text: string): boolean => text.startsWith('<!--') && text.trimEnd().endsWith('-->');

/** Creates the Markdown renderer, with the elements that differ from the default HTML. */
const createMarked = (folder: string) =>
  new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const [level, id] = [String(depth), headingId(text)];
        const start = html`<h${level} id="${id}"><a class="to-heading" href="#${id}">`.markup;
        return `${start}${this.parser.parseInline(tokens)}</a></h${level}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = portalAddress(href, folder);
        return target === undefined ? text : `${html`<a href="${target}"`.markup}>${text}</a>`;
      },
      code({ text }) {
        return html`<div class="block">
          <pre tabindex="0"><code>${text}</code></pre>
        </div>`.markup;
      },
      // docs/ contains no HTML: text that looks like a tag is escaped, and comments (for other tools) are removed.
      html({ text }) {
        return isComment(text) ? '' : html`${text}`.markup;
      },
    },
  });

/** The text of markup, with spaces between blocks such as table cells. */
const textOfMarkup = (markup: string): string =>
  unescape(markup.replaceAll(/<\/?(?:a|code|del|em|strong)(?: [^<>]*)?>/g, '').replaceAll(/<[^<>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Reads a guide of docs/ by its name. */
const readGuide = async (name: string): Promise<Guide> => {
  const text = await readFile(join(docs, `${name}.md`), 'utf8');
  const marked = createMarked(name.includes('/') ? name.slice(0, name.indexOf('/')) : '.');
  const tokens = marked.lexer(text);
  const starts = tokens.flatMap(({ type }, index) => (type === 'heading' ? [index] : []));
  const parsedSections = starts.map((start, index) => {
    const { depth, text: markdown } = tokens[start] as Tokens.Heading;
    const [headingLine = '', ...lines] = marked.parser(tokens.slice(start, starts[index + 1])).split('\n');
    const id = depth === 1 ? '' : headingId(markdown);
    return { depth, id, heading: textOfMarkup(headingLine), text: textOfMarkup(lines.join('\n')) };
  });
  const title = parsedSections[0]?.heading ?? name;
  const sections = parsedSections.map(({ heading, id, text: body }) => ({ heading, id, text: body }));
  // Wraps wide tables, so that each scrolls separately.
  const body = marked
    .parser(tokens)
    // An empty header cell would be a header without a name.
    .replaceAll('<th></th>', '<td></td>')
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
  return {
    name,
    address: addressOf(name),
    title,
    body: { markup: body },
    // Only the title of a decision is searchable, because its text is background.
    sections: isDecision(name) ? sections.slice(0, 1).map((section) => ({ ...section, text: '' })) : sections,
    contents: parsedSections.filter(({ depth }) => depth === 2 || depth === 3),
  };
};

/** First guides in the table of contents; the others follow by name. */
const order = ['architecture', 'deploy', 'scaling', 'security', 'benchmarks'];
const rank = (name: string): number => (order.indexOf(name) + order.length + 1) % (order.length + 1);

/** All guides in the order of the table of contents, decisions last. */
export const readGuides = async (): Promise<Guide[]> => {
  const files = await readdir(docs, { recursive: true });
  const names = files
    .filter((file) => file.endsWith('.md') && !file.endsWith('README.md'))
    .map((file) => file.slice(0, -'.md'.length));
  const guides = await Promise.all(names.map(readGuide));
  return guides.toSorted(
    (first, second) =>
      Number(first.name.includes('/')) - Number(second.name.includes('/')) ||
      rank(first.name) - rank(second.name) ||
      first.name.localeCompare(second.name),
  );
};
