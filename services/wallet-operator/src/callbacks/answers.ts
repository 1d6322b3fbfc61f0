import { decimal } from '@platform/wallet-protocol/money';
import type { Command, Reason } from '../ledger/command.ts';
import type { Outcome } from '../ledger/state.ts';
import type { LimitReached } from '../limits/domain.ts';

type Language = 'en' | 'de' | 'sv';

interface Texts {
  reasons: Partial<Record<Reason, string>>;
  /** `{period}` is replaced by one of `periods`. */
  limits: Record<'wager' | 'loss', string>;
  periods: Record<'24h' | '7d' | 'month', string>;
  session: string;
}

const texts: Record<Language, Texts> = {
  en: {
    reasons: {
      no_money: 'Your balance is too low for this bet.',
      round_closed: 'This round is over.',
      player_disabled: 'Your account is locked.',
      player_excluded: 'You have excluded yourself from playing.',
      session_expired: 'Your session has ended. Please start the game again.',
    },
    limits: {
      wager: 'This bet would exceed your betting limit for {period}.',
      loss: 'This bet could exceed your loss limit for {period}.',
    },
    periods: { '24h': '24 hours', '7d': '7 days', month: 'this month' },
    session: 'You have reached your time limit. Please take a break.',
  },
  de: {
    reasons: {
      no_money: 'Ihr Guthaben reicht für diesen Einsatz nicht aus.',
      round_closed: 'Diese Runde ist beendet.',
      player_disabled: 'Ihr Konto ist gesperrt.',
      player_excluded: 'Sie haben sich selbst vom Spiel ausgeschlossen.',
      session_expired: 'Ihre Sitzung ist abgelaufen. Bitte starten Sie das Spiel neu.',
    },
    limits: {
      wager: 'Dieser Einsatz würde Ihr Einsatzlimit für {period} überschreiten.',
      loss: 'Dieser Einsatz könnte Ihr Verlustlimit für {period} überschreiten.',
    },
    periods: { '24h': '24 Stunden', '7d': '7 Tage', month: 'diesen Monat' },
    session: 'Sie haben Ihr Zeitlimit erreicht. Bitte machen Sie eine Pause.',
  },
  sv: {
    reasons: {
      no_money: 'Ditt saldo är för lågt för den här insatsen.',
      round_closed: 'Den här rundan är avslutad.',
      player_disabled: 'Ditt konto är spärrat.',
      player_excluded: 'Du har stängt av dig själv från spel.',
      session_expired: 'Din session har löpt ut. Starta spelet igen.',
    },
    limits: {
      wager: 'Insatsen skulle överskrida din insatsgräns för {period}.',
      loss: 'Insatsen kan överskrida din förlustgräns för {period}.',
    },
    periods: { '24h': '24 timmar', '7d': '7 dagar', month: 'den här månaden' },
    session: 'Du har nått din tidsgräns. Ta en paus.',
  },
};

const isLanguage = (code: string): code is Language => Object.hasOwn(texts, code);

/**
 * The text for the player when a bet is refused (`customUserError`), in the language of the player, else in English.
 * Undefined for reasons that do not concern the player.
 */
const messageForPlayer = (
  reason: Reason,
  limit: LimitReached | undefined,
  languageCode: string | null | undefined,
): string | undefined => {
  const { reasons, limits, periods, session } =
    texts[languageCode && isLanguage(languageCode) ? languageCode : 'en'];
  if (limit === undefined) return reasons[reason];
  const { kind, period } = limit;
  return (kind === 'wager' || kind === 'loss') && period !== 'session'
    ? limits[kind].replace('{period}', periods[period])
    : session;
};

const profileFields = (
  command: Command & { operation: 'authenticate' },
  { profile, reason }: Outcome,
): Record<string, unknown> => {
  if (!profile) return {};
  const { excludedUntil, ...personalFields } = profile;
  const excluded = reason === 'player_excluded';
  return {
    accountCurrency: command.currency,
    ...Object.fromEntries(Object.entries(personalFields).filter(([, value]) => value !== null)),
    excluded,
    ...(excluded && excludedUntil !== null ? { excludedUntil } : {}),
  };
};

/** The body of the answer to a decided callback. */
export const answerOf = (requestId: string, command: Command, outcome: Outcome): string => {
  const { status, balance, reason, limit, languageCode } = outcome;
  const message =
    command.operation === 'debit' &&
    status !== 'OK' &&
    reason &&
    messageForPlayer(reason, limit, languageCode);
  return JSON.stringify({
    requestId,
    status,
    balance: balance === undefined ? undefined : decimal(balance),
    ...(command.operation === 'authenticate' ? profileFields(command, outcome) : {}),
    ...(message ? { customUserError: message } : {}),
  });
};
