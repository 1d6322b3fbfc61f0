import type { Reason } from '../ledger/command.ts';
import type { LimitReached } from '../limits/domain.ts';

type Language = 'en' | 'de' | 'sv';

interface Texts {
  reasons: Partial<Record<Reason, string>>;
  limits: Record<'wager' | 'loss', Record<'24h' | '7d' | 'month', string>>;
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
      wager: {
        '24h': 'This bet would exceed your betting limit for 24 hours.',
        '7d': 'This bet would exceed your betting limit for 7 days.',
        month: 'This bet would exceed your betting limit for this month.',
      },
      loss: {
        '24h': 'This bet could exceed your loss limit for 24 hours.',
        '7d': 'This bet could exceed your loss limit for 7 days.',
        month: 'This bet could exceed your loss limit for this month.',
      },
    },
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
      wager: {
        '24h': 'Dieser Einsatz würde Ihr Einsatzlimit für 24 Stunden überschreiten.',
        '7d': 'Dieser Einsatz würde Ihr Einsatzlimit für 7 Tage überschreiten.',
        month: 'Dieser Einsatz würde Ihr Einsatzlimit für diesen Monat überschreiten.',
      },
      loss: {
        '24h': 'Dieser Einsatz könnte Ihr Verlustlimit für 24 Stunden überschreiten.',
        '7d': 'Dieser Einsatz könnte Ihr Verlustlimit für 7 Tage überschreiten.',
        month: 'Dieser Einsatz könnte Ihr Verlustlimit für diesen Monat überschreiten.',
      },
    },
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
      wager: {
        '24h': 'Insatsen skulle överskrida din insatsgräns för 24 timmar.',
        '7d': 'Insatsen skulle överskrida din insatsgräns för 7 dagar.',
        month: 'Insatsen skulle överskrida din insatsgräns för den här månaden.',
      },
      loss: {
        '24h': 'Insatsen kan överskrida din förlustgräns för 24 timmar.',
        '7d': 'Insatsen kan överskrida din förlustgräns för 7 dagar.',
        month: 'Insatsen kan överskrida din förlustgräns för den här månaden.',
      },
    },
    session: 'Du har nått din tidsgräns. Ta en paus.',
  },
};

const isLanguage = (code: string): code is Language => Object.hasOwn(texts, code);

/**
 * What a player reads when a bet is refused (`customUserError`), in the language of the player, else in English.
 * Undefined for reasons that do not concern the player.
 */
export const messageFor = (
  reason: Reason,
  limit: LimitReached | undefined,
  languageCode: string | null | undefined,
): string | undefined => {
  const { reasons, limits, session } = texts[languageCode && isLanguage(languageCode) ? languageCode : 'en'];
  if (limit === undefined) return reasons[reason];
  const { kind, period } = limit;
  return (kind === 'wager' || kind === 'loss') && period !== 'session' ? limits[kind][period] : session;
};
