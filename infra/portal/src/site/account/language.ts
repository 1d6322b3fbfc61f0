import { de } from './de.ts';
import { en } from './en.ts';
import type { Texts } from './texts.ts';

const languages: Readonly<Partial<Record<string, Texts>>> = { en, de };

/** The first language of the browser in which there are texts, else English. */
const [language, known] = navigator.languages
  .map((tag) => tag.toLowerCase().split('-', 1).join(''))
  .flatMap((tag) => (Object.hasOwn(languages, tag) ? [[tag, languages[tag]] as const] : []))[0] ?? ['en', en];

document.documentElement.lang = language;

/** The texts in the language of the browser. */
export const texts: Texts = known ?? en;
