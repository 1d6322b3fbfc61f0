import type { Language, MailKind, Texts } from './texts/texts.ts';
import { de } from './texts/de.ts';
import { en } from './texts/en.ts';

const texts: Record<Language, Texts> = { en, de };

/**
 * A name that a user chose, as others see it in a mail: letters, digits, spaces and hyphens alone, because mail programs
 * turn what looks like an address into a link. Undefined when nothing is left.
 */
export const plainName = (name: string | null): string | undefined => {
  const words = (name ?? '').replaceAll(/[^\p{L}\p{M}\p{N}-]+/gu, ' ').trim();
  return [...words].slice(0, 40).join('').trim() || undefined;
};

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => escapes[character] ?? '');

interface Content {
  kind: MailKind;
  language: Language;
  /** Who invites, and to which list. */
  from: string | null;
  list: string | null;
  /** The secret of the mail, and the page for it, behind whose `#` it stands, so that no server sees it. */
  code: string | undefined;
  page: string | undefined;
}

/** What a mail says, as text and as HTML. */
export const write = ({ kind, language, code, page, ...names }: Content) => {
  const words = texts[language];
  const { subject, text, action, end } =
    kind === 'invitation' ? words.invitation(plainName(names.from), plainName(names.list)) : words[kind];
  const link = page === undefined || code === undefined ? page : `${page}#${code}`;
  const call = link === undefined ? `${action}: ${words.enterCode}:` : `${action}:`;
  const target = link ?? code;
  const paragraphs = [text, ...(target === undefined ? [] : [call, target, end])].filter(
    (paragraph) => paragraph !== undefined,
  );
  const html = paragraphs.map((paragraph) =>
    paragraph === link ? `<a href="${escaped(link)}">${escaped(link)}</a>` : escaped(paragraph),
  );
  return {
    subject,
    text: `${paragraphs.join('\n\n')}\n`,
    html: `<!doctype html><html lang="${language}"><body>${html.map((each) => `<p>${each}</p>`).join('')}</body></html>`,
  };
};
