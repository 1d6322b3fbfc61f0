const oldLink =
  'This link was used already, is too old, or was replaced by a newer one. Ask for another mail.';

/** The texts of the account pages. `verb` is on the button of a page. */
export const en = {
  password: {
    title: 'Set a new password',
    lead: 'All sessions of your account end, and you log in with the new password.',
    verb: 'Set the password',
    done: 'Your password was changed. You can log in with it now.',
  },
  email: {
    title: 'Confirm your email address',
    lead: 'Confirm that the address to which the mail was sent is yours.',
    verb: 'Confirm the address',
    done: 'Your email address is confirmed. You can log in now.',
  },
  deletion: {
    title: 'Keep your account',
    lead: 'Your account is to be deleted. To keep it, enter the password once more.',
    verb: 'Keep the account',
    done: 'Your account stays. You can log in now.',
  },
  newPassword: 'New password',
  showPassword: 'Show the password',
  emailAddress: 'Email address',
  currentPassword: 'Password',
  /** Without the code of a mail. */
  noCode: 'Open this page by the link in the mail.',
  /** Why a request failed, by the `code` of the answer. */
  problems: {
    not_found: oldLink,
    email_taken: 'Another account has this email address by now.',
    invalid_credentials: 'The email address or the password is wrong.',
    account_locked: 'This account is locked.',
    email_not_verified: 'Confirm your email address first: a mail with a link is on its way.',
  },
  /** Why a password was refused, from the message of the service. */
  reasonOf: (message: string) => `The password ${message}.`,
  tooMany: (seconds: number) => `There were too many attempts. Try again in ${seconds} seconds.`,
  unreachable: 'The server cannot be reached. Nothing may have changed: try again.',
  failed: 'That did not work. Try again.',
};

export type Texts = typeof en;
