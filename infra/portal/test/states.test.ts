import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { faultsOfLook, noFaults, canLook, desktop, phone, useBrowser, visit } from './browser.ts';
import { enterToken, openView, views } from './sign-in.ts';
import { stack } from './stack.ts';

useBrowser();

/** The answer of every list without records, and of a player who has done nothing. */
const nothing = {
  ...Object.fromEntries(
    'events orders members deliveryJobs payments verifications notifications rounds refusals entries checkpoints summary reconciliations changes games pending lowest mails'
      .split(' ')
      .map((list) => [list, []]),
  ),
  stores: [{ id: '01980000-0000-7000-8000-000000000000', name: 'Shop' }],
  page: { number: 1, has_more: false, limit: 25 },
  currency: 'EUR',
  session: null,
};

/** What the services and the mailbox answer. */
const api = /\/v1\/|\/docs\/ops\/mails$/;

/** How the services answer, and what each view says then. */
const states: Record<string, { answer: (page: Page) => Promise<unknown>; says: RegExp }> = {
  empty: {
    answer: (page) =>
      page.route(api, (route) =>
        /\/v1\/players\/[^/]+$/.test(route.request().url())
          ? route.fulfill({ status: 404, json: { detail: 'There is no such player.' } })
          : route.fulfill({ json: route.request().url().endsWith('/subscriptions') ? [] : nothing }),
      ),
    says: /^(?:No |There (?:is|are) no|Nothing |Type an id|This player has|The limits were never)/,
  },
  loading: {
    answer: (page) => page.route(api, () => {}),
    says: /^Loading …$/,
  },
  failing: {
    answer: (page) =>
      page.route(api, (route) =>
        route.fulfill({ status: 503, json: { detail: 'The database is unavailable.', requestId: 'r-1' } }),
      ),
    says: /The database is unavailable\./,
  },
};

const address: Partial<Record<string, string>> = {
  find: 'find?q=order-1',
  players: 'players?playerId=demo-1',
  limits: 'limits?playerId=demo-1',
  settings: 'settings?of=games',
};

describe.runIf(canLook)('a view of the operations page', () => {
  // Traffic does not read lists; its errors are in behaviour.test.ts.
  const lists = views.filter((view) => view !== 'traffic');

  test.each(Object.entries(states))(
    'that is %s says so, fits the screen and has no axe violation',
    async (_state, { answer, says }) => {
      await using visited = await visit('/docs/ops/', { ...phone, bypassCSP: true, reducedMotion: 'reduce' });
      const { page } = visited;
      await answer(page);
      await enterToken(page, stack.demo.adminToken);
      for (const view of lists) {
        const shown = await openView(page, address[view] ?? view);
        await shown.getByText(says).first().waitFor();
        for (const { viewport } of [phone, desktop]) {
          await page.setViewportSize(viewport);
          expect({ view, ...(await faultsOfLook(page)) }).toEqual({ view, ...noFaults });
        }
      }
      expect(visited.faults).toEqual([]);
    },
  );
});
