/** The environment, read in this file only. */
const { PATH = '', HOME = '/tmp' } = process.env;

/** What every child process gets of ours. */
export const inherited = { PATH, HOME };
