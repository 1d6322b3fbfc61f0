/** The environment, read in this file only. */
const { PATH = '', HOME = '/tmp', NODE_EXTRA_CA_CERTS } = process.env;

/** What every child process gets of ours. */
export const inherited = { PATH, HOME };

/** What a child process that installs packages gets in addition: the registry may be behind a proxy that decrypts. */
export const trusted: Record<string, string> =
  NODE_EXTRA_CA_CERTS === undefined ? {} : { NODE_EXTRA_CA_CERTS };
