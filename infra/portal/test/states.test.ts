import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { pageFaults, noFaults, hasBrowser, desktop, phone, useBrowser, visit } from './browser.ts';
import { enterToken, openView, views } from './sign-in.ts';
import { stack } from './stack.ts';

useBrowser();

/** The response of every list without records, and of a player without activity. */
const emptyResponse = {
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

/** Requests to the services and to the mailbox. */
const api = /\/v1\/|\/docs\/ops\/mails$/;

/** By state, the responses of the services and the text that each view shows then. */
const states: Record<string, { mockApi: (page: Page) => Promise<unknown>; text: RegExp }> = {
  empty: {
    mockApi: (page) =>
      page.route(api, (route) =>
        /\/v1\/players\/[^/]+$/.test(route.request().url())
          ? route.fulfill({ status: 404, json: { detail: 'There is no such player.' } })
          : route.fulfill({ json: route.request().url().endsWith('/subscriptions') ? [] : emptyResponse }),
      ),
    text: /^(?:No |There (?:is|are) no|Nothing |Type an id|This player has|The limits were never)/,
  },
  loading: {
    mockApi: (page) => page.route(api, () => {}),
    text: /^Loading …$/,
  },
  failing: {
    mockApi: (page) =>
      page.route(api, (route) =>
        route.fulfill({ status: 503, json: { detail: 'The database is unavailable.', requestId: 'r-1' } }),
      ),
    text: /The database is unavailable\./,
  },
};

const address: Partial<Record<string, string>> = {
  find: 'find?q=order-1',
  players: 'players?playerId=demo-1',
  limits: 'limits?playerId=demo-1',
  settings: 'settings?of=games',
};

describe.runIf(hasBrowser)('a view of the operations page', () => {
  // Traffic does not read lists; its errors are in behaviour.test.ts.
  const lists = views.filter((view) => view !== 'traffic');

  test.each(Object.entries(states))(
    'that is %s says so, fits the screen and has no axe violation',
    async (_state, { mockApi, text }) => {
      await using visited = await visit('/docs/ops/', { ...phone, bypassCSP: true, reducedMotion: 'reduce' });
      const { page } = visited;
      await mockApi(page);
      await enterToken(page, stack.demo.adminToken);
      for (const view of lists) {
        const shown = await openView(page, address[view] ?? view);
        await shown.getByText(text).first().waitFor();
        for (const { viewport } of [phone, desktop]) {
          await page.setViewportSize(viewport);
          expect({ view, ...(await pageFaults(page)) }).toEqual({ view, ...noFaults });
        }
      }
      expect(visited.faults).toEqual([]);
    },
  );
});
