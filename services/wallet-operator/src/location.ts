/** The path of a resource, for the header Location. */
export const pathOf = (...segments: string[]): string =>
  segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
