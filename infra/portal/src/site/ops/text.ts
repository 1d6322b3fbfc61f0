const clock = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** An ISO time in the reader's time zone. */
export const when = (iso: string | null): string => (iso === null ? '–' : clock.format(new Date(iso)));

/** Indented JSON. Use it as text only, never as markup. */
export const pretty = (value: unknown): string => JSON.stringify(value, null, 2) ?? '–';

/** Text for an error. */
export const errorText = (error: unknown): string => {
  if (error instanceof TypeError) return 'The gateway cannot be reached.';
  return error instanceof Error ? error.message : String(error);
};

/** A number with three digits at most. */
export const short = (value: number): string => {
  if (value === 0) return '0';
  if (value < 0.01) return '<0.01';
  return new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3, notation: 'compact' }).format(value);
};
