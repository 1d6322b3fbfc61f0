/** The environment, read in this file only. */
const { PATH = '', HOME = '/tmp' } = process.env;

/** The environment of somebody who has installed nothing but Node.js: no programs of this repository in the PATH. */
export const newcomer = {
  HOME,
  PATH: PATH.split(':')
    .filter((folder) => !folder.includes('node_modules'))
    .join(':'),
};
