/** A choice that the browser keeps. Reading `localStorage` throws where the browser keeps no site data. */
export const kept = (name: string): string | null => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
};

/** Keeps a choice, if the browser keeps site data. */
export const keep = (name: string, value: string): void => {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The choice is lost with the page.
  }
};
