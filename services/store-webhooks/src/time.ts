/** An instant as the wire has it, from a Date or from how PostgreSQL prints it. */
export const isoOf = (at: Date | string): string => new Date(at).toISOString();

export const isoOrNull = (at: Date | string | null): string | null => (at === null ? null : isoOf(at));
