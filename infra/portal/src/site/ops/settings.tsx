import type { FunctionComponent } from 'preact';
import { ApiKeys } from './api-keys.tsx';
import { Games } from './games.tsx';
import { useOneStop } from './one-stop.ts';
import { addressOf, place } from './place.ts';
import { useSession } from './session.ts';
import { Stores } from './store-settings.tsx';

/** What can be set here, by the filter `of`. */
const parts: Readonly<Record<string, { name: string; scope: string; Part: FunctionComponent }>> = {
  stores: { name: 'Stores', scope: 'stores:read', Part: Stores },
  games: { name: 'Games', scope: 'wallet:admin', Part: Games },
  keys: { name: 'API keys', scope: 'verify:admin', Part: ApiKeys },
};

/** The settings of stores, games and API keys; the limits of players are in a view of their own. */
export const View = () => {
  const { filters } = place.value;
  const { may } = useSession();
  const links = useOneStop<HTMLElement>();
  const allowed = Object.entries(parts).filter(([, { scope }]) => may(scope));
  const of = filters.get('of') ?? allowed[0]?.[0] ?? '';
  const Part = Object.hasOwn(parts, of) ? parts[of]?.Part : undefined;
  return (
    <>
      <nav class="links" aria-label="Settings" aria-keyshortcuts="ArrowLeft ArrowRight" ref={links}>
        {allowed.map(([part, { name }]) => (
          <a
            key={part}
            href={addressOf('settings', { of: part })}
            aria-current={part === of ? 'page' : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      {Part && <Part />}
    </>
  );
};
