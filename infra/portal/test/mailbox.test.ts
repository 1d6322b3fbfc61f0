import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { pageFaults, noFaults, hasBrowser, desktop, gateway, useBrowser } from './browser.ts';
import { signedIn } from './sign-in.ts';
import { stack } from './stack.ts';

useBrowser();

/** Registers a user, to whom the service sends a mail, and returns the address. */
const register = async (): Promise<string> => {
  const email = `mailbox-${randomUUID()}@example.test`;
  const response = await fetch(`${gateway}/api/v1/auth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password: 'correct horse battery' }),
  });
  expect(response.status).toBe(201);
  return email;
};

const look = { bypassCSP: true, reducedMotion: 'reduce' } as const;

describe.runIf(hasBrowser)('the mailbox', () => {
  test('shows a mail that arrives while it is open, and opens it with the keyboard', async () => {
    await using visited = await signedIn('mailbox', { ...desktop, ...look });
    const { page } = visited;
    await page.locator('.view table, .view .note').first().waitFor();
    const email = await register();
    const row = page.getByRole('row').filter({ hasText: email });
    await row.getByRole('button', { name: 'Confirm your email address' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Confirm your email address' });
    await dialog.getByText('An account was created with this email address.').waitFor();
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await pageFaults(page)).toEqual(noFaults);
    }
    await page.keyboard.press('Escape');
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.textContent))
      .toBe('Confirm your email address');
    expect(await row.getByRole('button').evaluate((element) => element === document.activeElement)).toBe(
      true,
    );
    expect(visited.outside).toEqual([]);
  });

  test('shows a mail as text, with only web addresses as links', async () => {
    await using visited = await signedIn('traffic', desktop);
    const { page } = visited;
    const markup = '<img src=x onerror=alert(1)>';
    const text = `${markup} javascript:alert(1) (https://app.example.test/a?b=c#d)\nhttps://x.test/"onclick="alert(1)`;
    const mail = { id: 'm', to: markup, subject: markup, receivedAt: '2030-01-01T00:00:00Z', text };
    await page.route('**/docs/ops/mails', (route) => route.fulfill({ json: { mails: [mail] } }));
    await page.getByRole('link', { name: 'Mailbox' }).click();
    await page.getByRole('button', { name: markup }).click();
    const links = page.getByRole('dialog').getByRole('link');
    expect(
      await links.evaluateAll((elements) => elements.map((link) => (link as HTMLAnchorElement).href)),
    ).toEqual(['https://app.example.test/a?b=c#d', 'https://x.test/']);
    expect(await links.first().getAttribute('rel')).toBe('noopener noreferrer');
    expect(await page.getByRole('dialog').locator('.mail').textContent()).toBe(text);
    expect(await page.locator('img[src=x]').count()).toBe(0);
    expect(visited.faults).toEqual([]);
  });

  test('is not in the views of a token without the scope', async () => {
    await using visited = await signedIn('mailbox', desktop, stack.demo.consignmentsToken);
    await visited.page.getByText('Mailbox needs the scope mailbox').waitFor();
    expect(await visited.page.getByRole('link', { name: 'Mailbox' }).count()).toBe(0);
    expect(visited.requestedPaths).not.toContain('/docs/ops/mails');
  });
});
