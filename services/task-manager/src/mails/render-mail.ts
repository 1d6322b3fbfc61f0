import type { Language, MailKind, Texts } from './texts/texts.ts';
import { de } from './texts/de.ts';
import { en } from './texts/en.ts';

const texts: Record<Language, Texts> = { en, de };

/**
 * Reduces a name that a user chose to letters, digits, spaces and hyphens, because mail programs turn text that looks like an
 * address into a link. Undefined when nothing is left.
 */
export const plainName = (name: string | null): string | undefined => {
  const words = (name ?? '').replaceAll(/[^\p{L}\p{M}\p{N}-]+/gu, ' ').trim();
  return [...words].slice(0, 40).join('').trim() || undefined;
};

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => escapes[character] ?? '');

interface Content {
  kind: MailKind;
  language: Language;
  /** Names of the inviting user and of the list. */
  from: string | null;
  list: string | null;
  /** The code of the mail and the page that reads it. The code is in the URL fragment, so that no server sees it. */
  code: string | undefined;
  page: string | undefined;
}

/** Renders the subject and the body of a mail, as text and as HTML. */
export const renderMail = ({ kind, language, code, page, ...names }: Content) => {
  const languageTexts = texts[language];
  const { subject, text, action, end } =
    kind === 'invitation'
      ? languageTexts.invitation(plainName(names.from), plainName(names.list))
      : languageTexts[kind];
  const link = page === undefined || code === undefined ? page : `${page}#${code}`;
  const call = link === undefined ? `${action}: ${languageTexts.enterCode}:` : `${action}:`;
  const target = link ?? code;
  const paragraphs = [text, ...(target === undefined ? [] : [call, target, end])].filter(
    (paragraph) => paragraph !== undefined,
  );
  const html = paragraphs.map((paragraph) =>
    paragraph === link ? `<a href="${escapeHtml(link)}">${escapeHtml(link)}</a>` : escapeHtml(paragraph),
  );
  return {
    subject,
    text: `${paragraphs.join('\n\n')}\n`,
    html: `<!doctype html><html lang="${language}"><body>${html.map((paragraph) => `<p>${paragraph}</p>`).join('')}</body></html>`,
  };
};
