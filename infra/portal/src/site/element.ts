type Child = Node | string | null;

/**
 * Creates an element with attributes and content. Strings become text, never markup; the Content-Security-Policy of the
 * page blocks all other ways to create elements from strings.
 */
export const element = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Record<string, string> = {},
  ...content: Child[]
): HTMLElementTagNameMap[Name] => {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value);
  created.append(...content.filter((child) => child !== null));
  return created;
};

/**
 * Returns the element with this id.
 * @throws if the page has no such element of this type
 */
export const byId = <Type extends HTMLElement>(id: string, type: new () => Type): Type => {
  const match = document.getElementById(id);
  if (match instanceof type) return match;
  throw new Error(`the page has no ${id}`);
};

/** Makes a button copy a text. After a click its label is "Copied" for 1.5 s. */
export const copyOnPress = (target: HTMLButtonElement, text: string): void => {
  const label = target.textContent;
  target.addEventListener('click', () => {
    void navigator.clipboard.writeText(text).then(() => {
      target.textContent = 'Copied';
      setTimeout(() => (target.textContent = label), 1500);
    });
  });
};

/** Downloads a file in the browser. */
export const download = (name: string, content: Blob): void => {
  const address = URL.createObjectURL(content);
  element('a', { href: address, download: name }).click();
  URL.revokeObjectURL(address);
};
