import type { Texts } from './texts.ts';

export const en: Texts = {
  invitation: (from = 'Somebody', list) => ({
    subject: 'Invitation to a shared list',
    text: `${from} invites you to ${list === undefined ? 'a shared list' : `the shared list “${list}”`}.`,
    action: 'Accept the invitation with an account with this email address',
    end: 'The invitation is valid for 14 days. If you do not know the sender, ignore this mail.',
  }),
  password_reset: {
    subject: 'Set a new password',
    text: 'Somebody, probably you, asked for a new password for your account.',
    action: 'Set a new password within 30 minutes',
    end: 'If it was not you, ignore this mail: your password stays as it is.',
  },
  email_verification: {
    subject: 'Confirm your email address',
    text: 'An account was created with this email address.',
    action: 'Confirm within a day that this address is yours',
    end: 'Then log in again. If you did not create the account, ignore this mail.',
  },
  email_change: {
    subject: 'Confirm your new email address',
    text: 'The email address of an account is to be changed to this one.',
    action: 'Confirm within a day that this address is yours',
    end: 'If you did not ask for this, ignore this mail.',
  },
  password_changed: {
    subject: 'Your password was changed',
    text: 'The password of your account was changed, and all other sessions were ended. If it was not you, set a new password now.',
  },
  email_changed: {
    subject: 'Your email address was changed',
    text: 'Your account has another email address now. If it was not you, contact the operator.',
  },
  session_ended: {
    subject: 'A session was ended',
    text: 'A session of your account was ended, because its credentials were used twice: somebody may have copied them. If you do not recognise this, change your password.',
  },
  deletion_requested: {
    subject: 'Your account will be deleted',
    text: 'You asked for your account to be deleted. All sessions were ended. In 14 days everything about you is erased. To keep the account, log in before. If it was not you, log in and change your password.',
    action: 'Keep the account',
  },
  deletion_undone: {
    subject: 'Your account stays',
    text: 'Somebody logged in with your password, so your account is not deleted. If it was not you, set a new password now.',
  },
  enterCode: 'enter this code',
};
