import type { Texts } from './en.ts';

const oldLink =
  'Dieser Link wurde schon benutzt, ist zu alt oder wurde durch einen neueren ersetzt. Fordern Sie eine neue Mail an.';

/** By the message of the service. */
const reasons: Readonly<Partial<Record<string, string>>> = {
  'must have at least 8 characters': 'Es muss mindestens 8 Zeichen haben.',
  'must have at most 128 characters': 'Es darf höchstens 128 Zeichen haben.',
  'must be well-formed Unicode': 'Es enthält Zeichen, die nicht gelesen werden können.',
  'must not be the email address': 'Es darf nicht Ihre E-Mail-Adresse sein.',
  'must not be blank': 'Es darf nicht leer sein.',
  'is one of the most common passwords': 'Es gehört zu den häufigsten Passwörtern.',
  'is known from a leak': 'Es ist aus einem Datenleck bekannt.',
};

export const de: Texts = {
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
    not_found: oldLink,
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
