/** The environment, read in this file only. */
const { PATH = '', HOME = '/tmp', CI } = process.env;

/** Whether everything has to be checked from the beginning. */
export const isCI = CI === 'true';

/** The environment of somebody who has installed nothing but Node.js: no programs of this repository in the PATH. */
export const newcomer = {
  HOME,
  PATH: PATH.split(':')
    .filter((folder) => !folder.includes('node_modules'))
    .join(':'),
};
