import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { html, unescape, type Markup } from './html.ts';

/** Ids of headings as GitHub makes them, because the links in docs/ are written for it. */
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
  title: string;
  body: Markup;
  sections: Section[];
  /** Its headings of the second level, and the tasks below them. */
  contents: { heading: string; id: string; depth: number }[];
}

/** A part of a guide that the search finds: a heading and the text below it. */
export interface Section {
  page: string;
  heading: string;
  href: string;
  text: string;
}

/** Whether a guide is a decision (ADR). */
export const isDecision = (name: string): boolean => name.startsWith('adr/');

/** The address of a guide in the portal. */
export const addressOf = (name: string): string => `/docs/guides/${name}/`;

/**
 * Where a link of a guide leads: another guide keeps its heading, an address stays. Undefined for files outside of
 * docs/, which the portal does not have.
 */
const targetOf = (href: string, folder: string): string | undefined => {
  if (/^(?:https?:|#)/.test(href)) return href;
  const [path = '', heading] = href.split('#');
  const name = join(folder, path);
  if (name.startsWith('..') || !name.endsWith('.md')) return undefined;
  const address = name.endsWith('/README.md') ? '/docs/guides/' : addressOf(name.slice(0, -'.md'.length));
  return heading === undefined ? address : `${address}#${heading}`;
};

/** Whether markup is a comment only. */
const isComment = (text: string): boolean => text.startsWith('<!--') && text.trimEnd().endsWith('-->');

/** Writes the elements that the portal treats differently from Markdown's usual HTML. */
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
        const target = targetOf(href, folder);
        return target === undefined ? text : `${html`<a href="${target}"`.markup}>${text}</a>`;
      },
      code({ text }) {
        return html`<div class="block">
          <pre tabindex="0"><code>${text}</code></pre>
        </div>`.markup;
      },
      // Nothing in docs/ needs markup of its own; what looks like it is text, and comments are for other tools.
      html({ text }) {
        return isComment(text) ? '' : html`${text}`.markup;
      },
    },
  });

/** The words of markup. Its blocks, such as the cells of a table, are apart from each other. */
const wordsIn = (markup: string): string =>
  unescape(markup.replaceAll(/<\/?(?:a|code|del|em|strong)(?: [^<>]*)?>/g, '').replaceAll(/<[^<>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Reads a guide of docs/ by its name. */
const readGuide = async (name: string): Promise<Guide> => {
  const text = await readFile(join(docs, `${name}.md`), 'utf8');
  const marked = createMarked(name.includes('/') ? name.slice(0, name.indexOf('/')) : '.');
  const tokens = marked.lexer(text);
  const starts = tokens.flatMap(({ type }, at) => (type === 'heading' ? [at] : []));
  const parts = starts.map((start, at) => {
    const { depth, text: markdown } = tokens[start] as Tokens.Heading;
    const [first = '', ...below] = marked.parser(tokens.slice(start, starts[at + 1])).split('\n');
    const id = headingId(markdown);
    const href = depth === 1 ? addressOf(name) : `${addressOf(name)}#${id}`;
    return { depth, id, href, heading: wordsIn(first), text: wordsIn(below.join('\n')) };
  });
  const title = parts[0]?.heading ?? name;
  const sections = parts.map(({ heading, href, text: below }) => ({
    page: title,
    heading,
    href,
    text: below,
  }));
  // Wide tables scroll by themselves.
  const body = marked
    .parser(tokens)
    // A column without a name has no header.
    .replaceAll('<th></th>', '<td></td>')
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
  return {
    name,
    title,
    body: { markup: body },
    // A decision is found by its title alone; what it says is background.
    sections: isDecision(name) ? sections.slice(0, 1).map((section) => ({ ...section, text: '' })) : sections,
    contents: parts.filter(({ depth }) => depth === 2 || depth === 3),
  };
};

/** The order in the table of contents; other guides follow by name. */
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
    (one, other) =>
      Number(one.name.includes('/')) - Number(other.name.includes('/')) ||
      rank(one.name) - rank(other.name) ||
      one.name.localeCompare(other.name),
  );
};
