/** Environment of the programs that a benchmark starts; nothing else of this process is passed on. */
export const inherited = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
