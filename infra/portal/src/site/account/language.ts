import { de } from './de.ts';
import { en, type Texts } from './en.ts';

const languages: Readonly<Partial<Record<string, Texts>>> = { en, de };

/** The first language of the browser in which there are texts. */
const language = navigator.languages
  .map((tag) => tag.split('-', 1).join('').toLowerCase())
  .find((tag) => Object.hasOwn(languages, tag));

document.documentElement.lang = language ?? 'en';

/** The texts in that language, else in English. */
export const texts = languages[language ?? 'en'] ?? en;
