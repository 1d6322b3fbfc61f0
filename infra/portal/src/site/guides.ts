import { readSearchIndex, wordsOf, type IndexedSection, type SearchIndex } from '../search-index.ts';
import { byId, copyOnPress, element } from './element.ts';

const input = byId('words', HTMLInputElement);
const resultCount = byId('found', HTMLElement);
const results = byId('results', HTMLOListElement);
const maxResults = 20;

type ReadIndex = ReturnType<typeof readSearchIndex>;

const fetchIndex = async (): Promise<ReadIndex> => {
  const response = await fetch('/docs/assets/guides.json');
  if (!response.ok) throw new Error(`the response has the status ${response.status}`);
  return readSearchIndex((await response.json()) as SearchIndex);
};

let index: Promise<ReadIndex> | undefined;

/** Loads the search index at the first search, and again after an error. */
const loadIndex = (): Promise<ReadIndex> =>
  (index ??= fetchIndex().catch((error: unknown) => {
    index = undefined;
    throw error;
  }));

/** The sections that contain all words, also inside longer words. The score is the number of words in the heading. */
const matchesOf = ({ sections, sectionsWith }: ReadIndex, queryWords: readonly string[]) => {
  const sectionsOfWord = queryWords.map(sectionsWith);
  return sections
    .filter((section) => sectionsOfWord.every((found) => found.has(section)))
    .map((section) => {
      const title = `${section.page} ${section.heading}`.toLowerCase();
      return { section, score: queryWords.filter((word) => title.includes(word)).length };
    });
};

/** 1 for contracts and decisions (in subfolders), which come after guides, otherwise 0. */
const isBackground = ({ section }: { section: IndexedSection }): number =>
  Number(/^\/docs\/guides\/[^/]+\/[^/#]+\//.test(section.href));

const resultItem = ({ page, heading, href, start }: IndexedSection): HTMLElement =>
  element(
    'li',
    {},
    element('a', { href }, page === heading ? page : `${page}: ${heading}`),
    element('p', { class: 'soft' }, start === '' ? start : `${start} …`),
  );

const search = async (): Promise<void> => {
  const query = input.value;
  const words = wordsOf(query);
  if (words.length === 0) {
    resultCount.textContent = '';
    results.replaceChildren();
    return;
  }
  const searchIndex = await loadIndex();
  if (input.value !== query) return;
  const matches = matchesOf(searchIndex, words).toSorted(
    (first, second) => isBackground(first) - isBackground(second) || second.score - first.score,
  );
  resultCount.textContent =
    matches.length === 0 ? `Nothing contains “${query.trim()}”.` : `${matches.length} found`;
  results.replaceChildren(...matches.slice(0, maxResults).map(({ section }) => resultItem(section)));
};

const showResults = (): void => {
  search().catch(() => (resultCount.textContent = 'The guides cannot be loaded. Type again to try again.'));
};

for (const code of document.querySelectorAll('.block > pre')) {
  const copy = element('button', { type: 'button', class: 'quiet', 'aria-label': 'Copy the code' }, 'Copy');
  copyOnPress(copy, code.textContent);
  code.before(copy);
}

// On wide screens the contents are open beside the text; on a phone they are above it.
const contents = document.querySelector<HTMLDetailsElement>('.on-page');
if (contents) contents.open = matchMedia('(min-width: 56rem)').matches;

input.addEventListener('input', showResults);
byId('search', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  results.querySelector('a')?.click();
});
