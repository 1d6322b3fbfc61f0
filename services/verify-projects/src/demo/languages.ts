import type { Language } from '../languages/schema.ts';

type Line = [code: string, name: string, nativeName: string];

const leftToRight: Line[] = [
  ['bg', 'Bulgarian', 'български'],
  ['bn', 'Bengali', 'বাংলা'],
  ['ca', 'Catalan', 'català'],
  ['cs', 'Czech', 'čeština'],
  ['da', 'Danish', 'dansk'],
  ['de', 'German', 'Deutsch'],
  ['de-AT', 'Austrian German', 'Österreichisches Deutsch'],
  ['el', 'Greek', 'Ελληνικά'],
  ['en', 'English', 'English'],
  ['en-US', 'American English', 'American English'],
  ['es', 'Spanish', 'español'],
  ['et', 'Estonian', 'eesti'],
  ['fi', 'Finnish', 'suomi'],
  ['fr', 'French', 'français'],
  ['fr-CA', 'Canadian French', 'français canadien'],
  ['hi', 'Hindi', 'हिन्दी'],
  ['hr', 'Croatian', 'hrvatski'],
  ['hu', 'Hungarian', 'magyar'],
  ['it', 'Italian', 'italiano'],
  ['ja', 'Japanese', '日本語'],
  ['ko', 'Korean', '한국어'],
  ['lt', 'Lithuanian', 'lietuvių'],
  ['nb', 'Norwegian Bokmål', 'norsk bokmål'],
  ['nl', 'Dutch', 'Nederlands'],
  ['pl', 'Polish', 'polski'],
  ['pt', 'Portuguese', 'português'],
  ['pt-BR', 'Brazilian Portuguese', 'português (Brasil)'],
  ['ro', 'Romanian', 'română'],
  ['sk', 'Slovak', 'slovenčina'],
  ['sv', 'Swedish', 'svenska'],
  ['sw', 'Swahili', 'Kiswahili'],
  ['th', 'Thai', 'ไทย'],
  ['tr', 'Turkish', 'Türkçe'],
  ['uk', 'Ukrainian', 'українська'],
  ['vi', 'Vietnamese', 'Tiếng Việt'],
  ['zh-Hans', 'Simplified Chinese', '简体中文'],
];

const rightToLeft: Line[] = [
  ['ar', 'Arabic', 'العربية'],
  ['fa', 'Persian', 'فارسی'],
  ['he', 'Hebrew', 'עברית'],
  ['ur', 'Urdu', 'اردو'],
];

const toLanguage =
  (direction: 'ltr' | 'rtl') =>
  ([code, name, native_name]: Line): Language => ({ code, name, native_name, direction });

/** Forty languages. */
export const languages: Language[] = [
  ...leftToRight.map(toLanguage('ltr')),
  ...rightToLeft.map(toLanguage('rtl')),
];
