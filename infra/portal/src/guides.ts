import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { html, type Markup } from './html.ts';

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

/** A token of marked, or a cell of a table. */
interface Part {
  type?: string;
  text?: string;
  tokens?: Part[];
  items?: Part[];
}

/** The words of a token, without the notation of Markdown. */
const plain = (part: Part): string => {
  const { type, text = ' ', tokens, items } = part;
  if (type === 'html' && isComment(text)) return ' ';
  if (type === 'table') {
    const { header, rows } = part as Tokens.Table;
    return [header, ...rows].flat().map(plain).join(' ');
  }
  if (items) return items.map(plain).join(' ');
  return tokens?.map(plain).join(type === 'list_item' || type === 'blockquote' ? ' ' : '') ?? text;
};

/** Reads a guide of docs/ by its name. */
const readGuide = async (name: string): Promise<Guide> => {
  const text = await readFile(join(docs, `${name}.md`), 'utf8');
  const folder = name.includes('/') ? name.slice(0, name.indexOf('/')) : '.';
  const marked = createMarked(folder);
  const tokens = marked.lexer(text);
  const [first] = tokens;
  const title = first?.type === 'heading' ? plain(first) : name;
  const sections: Section[] = [];
  const contents = tokens.flatMap((token) => {
    const { depth, text: markdown } = token as Tokens.Heading;
    if (token.type !== 'heading' || depth < 2 || depth > 3) return [];
    return [{ heading: plain(token), id: headingId(markdown), depth }];
  });
  for (const token of tokens) {
    const section = sections.at(-1);
    // A decision is found by its title alone; what it says is background.
    if (section && isDecision(name)) break;
    if (token.type === 'heading') {
      const { text: markdown, depth } = token as Tokens.Heading;
      const href = depth === 1 ? addressOf(name) : `${addressOf(name)}#${headingId(markdown)}`;
      sections.push({ page: title, heading: plain(token), href, text: '' });
    } else if (section) section.text = `${section.text} ${plain(token)}`.replaceAll(/\s+/g, ' ').trim();
  }
  // Wide tables scroll by themselves.
  const body = marked
    .parser(tokens)
    // A column without a name has no header.
    .replaceAll('<th></th>', '<td></td>')
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
  return { name, title, body: { markup: body }, sections, contents };
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
