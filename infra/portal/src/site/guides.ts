import type { Section } from '../guides.ts';
import { byId, element } from './element.ts';

const input = byId('words', HTMLInputElement);
const found = byId('found', HTMLElement);
const results = byId('results', HTMLOListElement);
const most = 20;
const around = 80;

const fetchSections = async (): Promise<Section[]> => {
  const answer = await fetch('/docs/assets/guides.json');
  if (!answer.ok) throw new Error(`the answer has the status ${answer.status}`);
  return (await answer.json()) as Section[];
};

let sections: Promise<Section[]> | undefined;

/** The text of all guides; loaded when somebody searches, and again after an error. */
const load = (): Promise<Section[]> =>
  (sections ??= fetchSections().catch((error: unknown) => {
    sections = undefined;
    throw error;
  }));

/** The words in the heading count more than those in the text below it; 0 when a word is in neither. */
const score = ({ page, heading, text }: Section, words: readonly string[]): number => {
  const [title, body] = [`${page} ${heading}`.toLowerCase(), text.toLowerCase()];
  if (!words.every((word) => title.includes(word) || body.includes(word))) return 0;
  return 1 + words.filter((word) => title.includes(word)).length;
};

/** Contracts and decisions, in folders of their own, come after guides, which say what to do. */
const isBackground = ({ section }: { section: Section }): number =>
  Number(/^\/docs\/guides\/[^/]+\/[^/#]+\//.test(section.href));

/** The part of a text around the first of the words. */
const excerpt = (text: string, words: readonly string[]): string => {
  const at = Math.min(...words.map((word) => text.toLowerCase().indexOf(word)).filter((index) => index >= 0));
  const start = Number.isFinite(at) ? Math.max(0, at - around) : 0;
  const part = text.slice(start, start + 2 * around).trim();
  return `${start > 0 ? '… ' : ''}${part}${start + 2 * around < text.length ? ' …' : ''}`;
};

const result = ({ page, heading, href, text }: Section, words: readonly string[]): HTMLElement =>
  element(
    'li',
    {},
    element('a', { href }, page === heading ? page : `${page}: ${heading}`),
    element('p', { class: 'soft' }, excerpt(text, words)),
  );

const search = async (): Promise<void> => {
  const asked = input.value;
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) {
    found.textContent = '';
    results.replaceChildren();
    return;
  }
  const all = await load();
  if (input.value !== asked) return;
  const matches = all
    .map((section) => ({ section, score: score(section, words) }))
    .filter((one) => one.score > 0)
    .toSorted((one, other) => isBackground(one) - isBackground(other) || other.score - one.score);
  found.textContent =
    matches.length === 0 ? `Nothing contains “${asked.trim()}”.` : `${matches.length} found`;
  results.replaceChildren(...matches.slice(0, most).map(({ section }) => result(section, words)));
};

const tell = (): void => {
  search().catch(() => (found.textContent = 'The guides cannot be loaded. Type again to try again.'));
};

input.addEventListener('input', tell);
byId('search', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault();
  results.querySelector('a')?.click();
});
