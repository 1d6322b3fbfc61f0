import { wordsOf, type SearchIndex } from '../search-index.ts';
import { byId, copyOnPress, element } from './element.ts';

const input = byId('words', HTMLInputElement);
const found = byId('found', HTMLElement);
const results = byId('results', HTMLOListElement);
const most = 20;

type Indexed = SearchIndex['sections'][number];

const fetchIndex = async (): Promise<SearchIndex> => {
  const answer = await fetch('/docs/assets/guides.json');
  if (!answer.ok) throw new Error(`the answer has the status ${answer.status}`);
  return (await answer.json()) as SearchIndex;
};

let index: Promise<SearchIndex> | undefined;

/** The words of all guides; loaded when somebody searches, and again after an error. */
const load = (): Promise<SearchIndex> =>
  (index ??= fetchIndex().catch((error: unknown) => {
    index = undefined;
    throw error;
  }));

/** The sections that have all words, also inside of longer ones. Words in the heading count more. */
const matchesOf = ({ sections, words }: SearchIndex, asked: readonly string[]) => {
  const inText = asked.map(
    (word) =>
      new Set(Object.keys(words).flatMap((known) => (known.includes(word) ? (words[known] ?? []) : []))),
  );
  return sections.flatMap((section, at) => {
    const title = `${section.page} ${section.heading}`.toLowerCase();
    const isInTitle = asked.map((word) => title.includes(word));
    if (!asked.every((_, word) => isInTitle[word] || inText[word]?.has(at))) return [];
    return [{ section, score: isInTitle.filter(Boolean).length }];
  });
};

/** Contracts and decisions, in folders of their own, come after guides, which say what to do. */
const isBackground = ({ section }: { section: Indexed }): number =>
  Number(/^\/docs\/guides\/[^/]+\/[^/#]+\//.test(section.href));

const result = ({ page, heading, href, start }: Indexed): HTMLElement =>
  element(
    'li',
    {},
    element('a', { href }, page === heading ? page : `${page}: ${heading}`),
    element('p', { class: 'soft' }, start === '' ? start : `${start} …`),
  );

const search = async (): Promise<void> => {
  const asked = input.value;
  const words = wordsOf(asked);
  if (words.length === 0) {
    found.textContent = '';
    results.replaceChildren();
    return;
  }
  const all = await load();
  if (input.value !== asked) return;
  const matches = matchesOf(all, words).toSorted(
    (one, other) => isBackground(one) - isBackground(other) || other.score - one.score,
  );
  found.textContent =
    matches.length === 0 ? `Nothing contains “${asked.trim()}”.` : `${matches.length} found`;
  results.replaceChildren(...matches.slice(0, most).map(({ section }) => result(section)));
};

const tell = (): void => {
  search().catch(() => (found.textContent = 'The guides cannot be loaded. Type again to try again.'));
};

for (const code of document.querySelectorAll('.block > pre')) {
  const copy = element('button', { type: 'button', class: 'quiet', 'aria-label': 'Copy the code' }, 'Copy');
  copyOnPress(copy, code.textContent);
  code.before(copy);
}

// Beside the text the contents are open; on a phone they are above it.
const contents = document.querySelector<HTMLDetailsElement>('.on-page');
if (contents) contents.open = matchMedia('(min-width: 56rem)').matches;

input.addEventListener('input', tell);
byId('search', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  results.querySelector('a')?.click();
});
