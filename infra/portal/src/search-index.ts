import type { Guide } from './guides.ts';

/** Content of the file with the search index of the guides. The search needs neither their full text nor all their words. */
export interface SearchIndex {
  /** The guides with their sections. The first heading of a guide is its title; `start` has the first characters of the text. */
  guides: { address: string; sections: { heading: string; id: string; start: string }[] }[];
  /** One line for each word: the word, the number of the first section that contains it, and the distances between the others. */
  words: string;
}

/** A section as a result of the search. */
export interface IndexedSection {
  page: string;
  heading: string;
  href: string;
  start: string;
}

const startLength = 40;

/** The first words of a text. */
const startOf = (text: string): string => {
  const space = text.lastIndexOf(' ', startLength);
  return text.slice(0, text.length > startLength && space > 0 ? space : startLength);
};

/** Splits a text into words in lower case. `?dryRun=true` has two words. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** The texts of a section that the search reads besides the list of words. */
const shownText = ({ page, heading, start }: Omit<IndexedSection, 'href'>): string =>
  `${page} ${heading} ${start}`.toLowerCase();

/** Replaces each number with its distance from the previous one. */
const distances = (numbers: readonly number[]): number[] =>
  numbers.map((number, index) => number - (numbers[index - 1] ?? 0));

/**
 * Creates the search index. Because the search also finds a word inside a longer one, a word is not listed for a section
 * that shows it, or whose text has a longer word that contains it: `store` beside `stores`.
 */
export const createSearchIndex = (
  guides: readonly Pick<Guide, 'address' | 'title' | 'sections'>[],
): SearchIndex => {
  const sectionsOfWord = new Map<string, number[]>();
  const sections = guides.flatMap(({ title, sections }) =>
    sections.map((section) => ({ page: title, start: startOf(section.text), ...section })),
  );
  for (const [number, section] of sections.entries()) {
    const shown = shownText(section);
    const words = [...new Set(wordsOf(section.text))];
    const isInLonger = (word: string): boolean =>
      words.some((other) => other.length > word.length && other.includes(word));
    for (const word of words)
      if (!shown.includes(word) && !isInLonger(word))
        sectionsOfWord.set(word, [...(sectionsOfWord.get(word) ?? []), number]);
  }
  return {
    guides: guides.map(({ address, sections }) => ({
      address,
      sections: sections.map(({ heading, id, text }) => ({ heading, id, start: startOf(text) })),
    })),
    words: [...sectionsOfWord]
      .toSorted(([first], [second]) => first.localeCompare(second))
      .map(([word, numbers]) => [word, ...distances(numbers)].join(' '))
      .join('\n'),
  };
};

/** Reads an index: its sections, and a function that returns those that contain a text, also inside a word. */
export const readSearchIndex = ({ guides, words }: SearchIndex) => {
  const sections: IndexedSection[] = guides.flatMap(({ address, sections }) =>
    sections.map(({ heading, id, start }) => ({
      page: sections[0]?.heading ?? '',
      heading,
      href: id === '' ? address : `${address}#${id}`,
      start,
    })),
  );
  const lines = words.split('\n').map((line) => line.split(' '));
  const sectionsWith = (text: string): Set<IndexedSection> => {
    const found = new Set(sections.filter((section) => shownText(section).includes(text)));
    for (const [word, ...steps] of lines)
      if (word?.includes(text)) {
        let number = 0;
        for (const step of steps) {
          const section = sections[(number += Number(step))];
          if (section) found.add(section);
        }
      }
    return found;
  };
  return { sections, sectionsWith };
};
