import type { Texts } from './texts.ts';

export const de: Texts = {
  invitation: (from = 'Jemand', list) => ({
    subject: 'Einladung zu einer gemeinsamen Liste',
    text: `${from} lädt Sie zu ${list === undefined ? 'einer gemeinsamen Liste' : `der gemeinsamen Liste „${list}“`} ein.`,
    action: 'Nehmen Sie die Einladung mit einem Konto dieser E-Mail-Adresse an',
    end: 'Die Einladung gilt 14 Tage. Wenn Sie den Absender nicht kennen, ignorieren Sie diese E-Mail.',
  }),
  password_reset: {
    subject: 'Neues Passwort festlegen',
    text: 'Jemand, wahrscheinlich Sie, hat für Ihr Konto ein neues Passwort angefordert.',
    action: 'Legen Sie innerhalb von 30 Minuten ein neues Passwort fest',
    end: 'Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Ihr Passwort bleibt, wie es ist.',
  },
  email_verification: {
    subject: 'E-Mail-Adresse bestätigen',
    text: 'Mit dieser E-Mail-Adresse wurde ein Konto angelegt.',
    action: 'Bestätigen Sie innerhalb eines Tages, dass diese Adresse Ihnen gehört',
    end: 'Melden Sie sich danach neu an. Wenn Sie das Konto nicht angelegt haben, ignorieren Sie diese E-Mail.',
  },
  email_change: {
    subject: 'Neue E-Mail-Adresse bestätigen',
    text: 'Die E-Mail-Adresse eines Kontos soll in diese geändert werden.',
    action: 'Bestätigen Sie innerhalb eines Tages, dass diese Adresse Ihnen gehört',
    end: 'Wenn Sie das nicht verlangt haben, ignorieren Sie diese E-Mail.',
  },
  password_changed: {
    subject: 'Ihr Passwort wurde geändert',
    text: 'Das Passwort Ihres Kontos wurde geändert, und alle anderen Sitzungen wurden beendet. Wenn Sie das nicht waren, legen Sie jetzt ein neues Passwort fest.',
  },
  email_changed: {
    subject: 'Ihre E-Mail-Adresse wurde geändert',
    text: 'Ihr Konto hat jetzt eine andere E-Mail-Adresse. Wenn Sie das nicht waren, wenden Sie sich an den Betreiber.',
  },
  session_ended: {
    subject: 'Eine Sitzung wurde beendet',
    text: 'Eine Sitzung Ihres Kontos wurde beendet, weil ihre Zugangsdaten zweimal verwendet wurden: Jemand könnte sie kopiert haben. Wenn Sie sich das nicht erklären können, ändern Sie Ihr Passwort.',
  },
  deletion_requested: {
    subject: 'Ihr Konto wird gelöscht',
    text: 'Sie haben verlangt, dass Ihr Konto gelöscht wird. Alle Sitzungen wurden beendet. In 14 Tagen wird alles über Sie gelöscht. Wenn Sie das Konto behalten wollen, melden Sie sich vorher an. Wenn Sie das nicht waren, melden Sie sich an und ändern Sie Ihr Passwort.',
    action: 'Konto behalten',
  },
  deletion_undone: {
    subject: 'Ihr Konto bleibt bestehen',
    text: 'Jemand hat sich mit Ihrem Passwort angemeldet, deshalb wird Ihr Konto nicht gelöscht. Wenn Sie das nicht waren, legen Sie jetzt ein neues Passwort fest.',
  },
  enterCode: 'geben Sie diesen Code ein',
};
