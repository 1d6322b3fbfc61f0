import type { Section } from './guides.ts';

/** What the search of the guides knows, as a file: each word once. */
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
