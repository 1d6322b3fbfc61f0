import { element } from '../element.ts';

/** Lets the browser save a text as a file. @param type media type, such as `text/csv` */
export const download = (name: string, text: string, type: string): void => {
  const address = URL.createObjectURL(new Blob([text], { type }));
  element('a', { href: address, download: name }).click();
  URL.revokeObjectURL(address);
};
