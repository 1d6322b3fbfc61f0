/** The texts of the account pages. `verb` is the label of the button. */
const en = {
  password: {
    title: 'Set a new password',
    lead: 'This ends all sessions of your account. Log in again with the new password.',
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
    lead: 'Your account is scheduled for deletion. To keep it, enter your password.',
    verb: 'Keep the account',
    done: 'Your account is kept. You can log in now.',
  },
  newPassword: 'New password',
  showPassword: 'Show the password',
  emailAddress: 'Email address',
  currentPassword: 'Password',
  /** Shown if the address has no code of a mail. */
  noCode: 'Open this page with the link in the mail.',
  /** Messages by the `code` of the error response. */
  problems: {
    not_found:
      'This link was already used, has expired, or was replaced by a newer one. Request another mail.',
    email_taken: 'Another account already uses this email address.',
    invalid_credentials: 'The email address or the password is wrong.',
    account_locked: 'This account is locked.',
    email_not_verified: 'Confirm your email address first: we have sent you a mail with a link.',
  },
  /** Message for a rejected password, from the message of the service. */
  reasonOf: (message: string) => `The password ${message}.`,
  tooMany: (seconds: number) => `There were too many attempts. Try again in ${seconds} seconds.`,
  unreachable: 'The server cannot be reached. Nothing may have changed: try again.',
  failed: 'The request failed. Try again.',
};

type Texts = typeof en;

/** German texts by the message of the service. */
const reasons: Readonly<Partial<Record<string, string>>> = {
  'must have at least 8 characters': 'Es muss mindestens 8 Zeichen haben.',
  'must have at most 128 characters': 'Es darf höchstens 128 Zeichen haben.',
  'must be well-formed Unicode': 'Es enthält Zeichen, die nicht gelesen werden können.',
  'must not be the email address': 'Es darf nicht Ihre E-Mail-Adresse sein.',
  'must not be blank': 'Es darf nicht leer sein.',
  'is one of the most common passwords': 'Es gehört zu den häufigsten Passwörtern.',
  'is known from a leak': 'Es ist aus einem Datenleck bekannt.',
};

const de: Texts = {
  password: {
    title: 'Neues Passwort festlegen',
    lead: 'Alle Sitzungen Ihres Kontos enden, und Sie melden sich mit dem neuen Passwort an.',
    verb: 'Passwort festlegen',
    done: 'Ihr Passwort wurde geändert. Sie können sich jetzt damit anmelden.',
  },
  email: {
    title: 'E-Mail-Adresse bestätigen',
    lead: 'Bestätigen Sie, dass die Adresse, an die die Mail ging, Ihnen gehört.',
    verb: 'Adresse bestätigen',
    done: 'Ihre E-Mail-Adresse ist bestätigt. Sie können sich jetzt anmelden.',
  },
  deletion: {
    title: 'Konto behalten',
    lead: 'Ihr Konto soll gelöscht werden. Wenn Sie es behalten wollen, geben Sie noch einmal das Passwort ein.',
    verb: 'Konto behalten',
    done: 'Ihr Konto bleibt bestehen. Sie können sich jetzt anmelden.',
  },
  newPassword: 'Neues Passwort',
  showPassword: 'Passwort anzeigen',
  emailAddress: 'E-Mail-Adresse',
  currentPassword: 'Passwort',
  noCode: 'Öffnen Sie diese Seite mit dem Link in der Mail.',
  problems: {
    not_found:
      'Dieser Link wurde schon benutzt, ist zu alt oder wurde durch einen neueren ersetzt. Fordern Sie eine neue Mail an.',
    email_taken: 'Inzwischen hat ein anderes Konto diese E-Mail-Adresse.',
    invalid_credentials: 'Die E-Mail-Adresse oder das Passwort ist falsch.',
    account_locked: 'Dieses Konto ist gesperrt.',
    email_not_verified: 'Bestätigen Sie zuerst Ihre E-Mail-Adresse: eine Mail mit einem Link ist unterwegs.',
  },
  reasonOf: (message) => reasons[message] ?? `Es ist nicht erlaubt: ${message}.`,
  tooMany: (seconds) => `Es gab zu viele Versuche. Versuchen Sie es in ${seconds} Sekunden noch einmal.`,
  unreachable:
    'Der Server ist nicht zu erreichen. Vielleicht hat sich nichts geändert: versuchen Sie es noch einmal.',
  failed: 'Das hat nicht geklappt. Versuchen Sie es noch einmal.',
};

const languages: Readonly<Partial<Record<string, Texts>>> = { en, de };

/** The first preferred language of the browser for which there are texts. */
const language = navigator.languages
  .map((tag) => tag.split('-', 1).join('').toLowerCase())
  .find((tag) => Object.hasOwn(languages, tag));

document.documentElement.lang = language ?? 'en';

/** The texts in that language, otherwise in English. */
export const texts = languages[language ?? 'en'] ?? en;
