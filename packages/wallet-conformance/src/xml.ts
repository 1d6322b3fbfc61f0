import { printable } from '@platform/program/terminal';

/** Text of others for XML, which has no way at all to write control characters, U+FFFE and U+FFFF. */
export const escaped = (text: string): string =>
  printable(text)
    .replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
