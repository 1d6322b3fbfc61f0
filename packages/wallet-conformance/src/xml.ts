import { printable } from '@platform/program/terminal';

/** Escapes untrusted text for XML. XML cannot represent control characters, U+FFFE and U+FFFF, so they are replaced. */
export const escapeXml = (text: string): string =>
  printable(text)
    .replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
