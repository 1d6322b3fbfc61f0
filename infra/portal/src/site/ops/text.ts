const clock = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** An ISO instant in the reader's own time zone. */
export const when = (iso: string | null): string => (iso === null ? '–' : clock.format(new Date(iso)));

/** JSON for reading. Given to elements as text only. */
export const pretty = (value: unknown): string => JSON.stringify(value, null, 2) ?? '–';

/** What went wrong, for a person. */
export const complaint = (error: unknown): string => {
  if (error instanceof TypeError) return 'The gateway cannot be reached.';
  return error instanceof Error ? error.message : String(error);
};

/** A number of any size in few characters. */
export const short = (value: number): string => {
  if (value === 0) return '0';
  if (value < 0.01) return '<0.01';
  return new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3, notation: 'compact' }).format(value);
};
