import { z } from 'zod';

/** A secret that is used as bytes, in hexadecimal. Checked, because Buffer.from silently stops at an invalid digit. */
export const hexSecret = () =>
  z.string().regex(/^(?:[0-9a-f]{2})+$/i, 'must be an even number of hex digits');

/** A credential that is sent in a header: printable ASCII, no spaces at the ends. */
export const headerCredential = () =>
  z.string().regex(/^[!-~](?:[ -~]*[!-~])?$/, 'must be printable ASCII without spaces at the ends');

/** A signing secret whose text is the key. */
export const textSecret = () => z.string().regex(/^\S+$/, 'must not contain white space');

/** A signing secret, or the current and the previous one with a comma between them. More would be tried for each webhook. */
export const textSecrets = () =>
  z.string().regex(/^[^\s,]+(?:,[^\s,]+)?$/, 'must be a secret, or two with a comma between them');
