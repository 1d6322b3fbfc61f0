import type { Section } from './guides.ts';

/** Content of the file with the search index of the guides. It contains each word once. */
export interface SearchIndex {
  /** The sections. `start` has the first characters of the text. */
  sections: (Omit<Section, 'text'> & { start: string })[];
  /** For each word the indexes of the sections that contain it. */
  words: Record<string, number[]>;
}

const startLength = 40;

/** Splits a text into words in lower case. `?dryRun=true` has two words. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Creates the search index of sections. */
export const createSearchIndex = (sections: readonly Section[]): SearchIndex => {
  const words = new Map<string, number[]>();
  for (const [index, { text }] of sections.entries())
    for (const word of new Set(wordsOf(text))) words.set(word, [...(words.get(word) ?? []), index]);
  return {
    sections: sections.map(({ text, ...section }) => ({ ...section, start: text.slice(0, startLength) })),
    words: Object.fromEntries([...words].toSorted(([first], [second]) => first.localeCompare(second))),
  };
};
