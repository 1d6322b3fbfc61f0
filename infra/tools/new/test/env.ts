/** The environment, read in this file only. */
const { PATH = '', HOME = '/tmp' } = process.env;

/** The environment that every child process gets. */
export const inherited = { PATH, HOME };
