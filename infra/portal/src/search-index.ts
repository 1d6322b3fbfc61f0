import type { Section } from './guides.ts';
import { headingId } from './heading-id.ts';

/** What the search of the guides knows: each word once. */
export interface SearchIndex {
  /** `start` is the beginning of the text. */
  sections: (Omit<Section, 'text'> & { start: string })[];
  /** By word, the positions of the sections whose text has it. */
  words: Record<string, number[]>;
}

const startLength = 40;

/** The words of a text in lower case. `?dryRun=true` has two. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** The index of sections. */
export const createSearchIndex = (sections: readonly Section[]): SearchIndex => {
  const words = new Map<string, number[]>();
  for (const [at, { text }] of sections.entries())
    for (const word of new Set(wordsOf(text))) words.set(word, [...(words.get(word) ?? []), at]);
  return {
    sections: sections.map(({ text, ...section }) => ({ ...section, start: text.slice(0, startLength) })),
    words: Object.fromEntries([...words].toSorted(([one], [other]) => one.localeCompare(other))),
  };
};

/** A section in the file: its heading and anchor, null where the heading says it, its start, and of the first of a page the title, null where the heading says it, and the address. */
type Row = [heading: string, anchor: string | null, start: string, title?: string | null, path?: string];

/** The index as a file, in which nothing stands twice: of a word, the distances between its sections, a character each. */
export interface PackedIndex {
  rows: Row[];
  words: Record<string, string>;
}

/** The character of distance 0: the one after the quotation mark, which JSON escapes. */
const zero = '#'.charCodeAt(0);

/** Writes an index small. */
export const pack = ({ sections, words }: SearchIndex): PackedIndex => ({
  rows: sections.map(({ page, heading, href, start }, at): Row => {
    const [path = '', anchor = ''] = href.split('#');
    const isFirst = sections[at - 1]?.href.split('#')[0] !== path;
    const ofPage: [] | [string | null, string] = isFirst ? [page === heading ? null : page, path] : [];
    return [heading, anchor === headingId(heading) ? null : anchor, start, ...ofPage];
  }),
  words: Object.fromEntries(
    Object.entries(words).map(([word, all]) => [
      word,
      String.fromCharCode(...all.map((at, nth) => zero + at - (all[nth - 1] ?? 0))),
    ]),
  ),
});

/** Reads what `pack` has written. */
export const unpack = ({ rows, words }: PackedIndex): SearchIndex => {
  let [page, path] = ['', ''];
  const sections = rows.map(([heading, anchor, start, title, address]) => {
    if (address !== undefined) [page, path] = [title ?? heading, address];
    const hash = anchor ?? headingId(heading);
    return { page, heading, href: hash === '' ? path : `${path}#${hash}`, start };
  });
  const positions = (distances: string): number[] => {
    let at = 0;
    return Array.from(distances, (distance) => (at += distance.charCodeAt(0) - zero));
  };
  return {
    sections,
    words: Object.fromEntries(Object.entries(words).map(([word, all]) => [word, positions(all)])),
  };
};
