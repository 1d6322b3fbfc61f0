/** Only this file reads the environment. */
const { PATH = '', HOME = '/tmp' } = process.env;

/** Variables that every child process inherits. */
export const inherited = { PATH, HOME };
