import { element } from '../element.ts';

/** Lets the browser save a file. */
export const download = (name: string, content: Blob): void => {
  const address = URL.createObjectURL(content);
  element('a', { href: address, download: name }).click();
  URL.revokeObjectURL(address);
};
