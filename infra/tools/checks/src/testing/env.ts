/** The environment, read in this file only. */
const { PATH = '', HOME = '/tmp' } = process.env;

/** Environment of a user who has only Node.js installed: no programs of this repository in the PATH. */
export const newcomer = {
  HOME,
  PATH: PATH.split(':')
    .filter((folder) => !folder.includes('node_modules'))
    .join(':'),
};
