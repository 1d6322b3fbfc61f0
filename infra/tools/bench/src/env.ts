/** What a program started by a benchmark inherits: where programs are, and nothing else. */
export const inherited = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
